// The cases of a CAVP response file for AES-256-GCM encryption, those with an IV of 96 bits and a tag of 128.
#pragma once

#include "reference.h"

#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

namespace vectors {

using reference::Bytes;

struct Case {
    std::string name;
    Bytes key, iv, aad, text, sealed, tag;
};

inline Bytes bytes(const std::string& hex) {
    Bytes decoded;
    for (size_t i = 0; i + 1 < hex.size(); i += 2) decoded.push_back(static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
    return decoded;
}

inline std::vector<Case> read(const std::string& file) {
    std::ifstream lines(file);
    if (!lines) throw std::runtime_error(file + ": cannot be read");
    std::vector<Case> cases;
    std::map<std::string, std::string> said;
    for (std::string line; std::getline(lines, line);) {
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
        if (!line.empty() && line.front() == '[') line = line.substr(1, line.size() - 2);
        const size_t equals = line.find(" =");
        if (line.empty() || line.front() == '#' || equals == std::string::npos) continue;
        const std::string name = line.substr(0, equals);
        said[name] = equals + 3 < line.size() ? line.substr(equals + 3) : "";
        if (name != "Tag" || said["Keylen"] != "256" || said["IVlen"] != "96" || said["Taglen"] != "128") continue;
        cases.push_back({"PTlen " + said["PTlen"] + ", AADlen " + said["AADlen"] + ", count " + said["Count"], bytes(said["Key"]),
                         bytes(said["IV"]), bytes(said["AAD"]), bytes(said["PT"]), bytes(said["CT"]), bytes(said["Tag"])});
    }
    if (cases.empty()) throw std::runtime_error(file + ": no case of AES-256-GCM with an IV of 96 bits and a tag of 128");
    return cases;
}

}  // namespace vectors
