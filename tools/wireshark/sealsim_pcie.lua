-- Dissects PCIe captures of sealsim in Wireshark and tshark: link type USER11, record header, TLP or DLLP.
--
--   tshark -X lua_script:sealsim_pcie.lua -r link.pcapng -Y 'pcie_record.upstream == 1 && tlp.kind == "MRd"'
--   Wireshark: copy it to the folder of personal Lua plugins (Help > About > Folders).

local record = Proto("pcie_record", "PCIe record")
local tlp = Proto("tlp", "PCIe TLP")
local dllp = Proto("dllp", "PCIe DLLP")

local HEADER = 20
local STP, SDP, FINISH = 0xfb, 0x5c, 0xfd

local directions = { [0] = "downstream", [1] = "upstream" }
local speeds = { [1] = "2.5 GT/s", [2] = "8 GT/s or more", [3] = "5 GT/s" }
local widths = { [0] = "x1", [1] = "x2", [2] = "x4", [3] = "x8", [4] = "x16" }

local r = record.fields
r.number = ProtoField.uint32("pcie_record.number", "Record")
r.time = ProtoField.uint64("pcie_record.time_ns", "Time (ns)")
r.bytes = ProtoField.uint16("pcie_record.bytes", "Bytes of the packet", base.DEC, nil, 0x7fff)
r.upstream = ProtoField.uint32("pcie_record.upstream", "Direction", base.DEC, directions, 0x10000000)
r.speed = ProtoField.uint32("pcie_record.speed", "Speed", base.DEC, speeds, 0x300)
r.width = ProtoField.uint32("pcie_record.width", "Width", base.DEC, widths, 0x7)

local statuses = { [0] = "SC", [1] = "UR", [2] = "CRS", [4] = "CA" }
local t = tlp.fields
t.sequence = ProtoField.uint16("tlp.sequence", "Sequence number", base.DEC, nil, 0xfff)
t.kind = ProtoField.string("tlp.kind", "Kind")
t.class = ProtoField.uint8("tlp.tc", "Traffic class", base.DEC, nil, 0x70)
t.digest = ProtoField.bool("tlp.td", "ECRC present", 8, nil, 0x80)
t.length = ProtoField.uint16("tlp.length_dw", "Length (DW)")
t.requester = ProtoField.uint16("tlp.requester", "Requester ID", base.HEX)
t.completer = ProtoField.uint16("tlp.completer", "Completer ID", base.HEX)
t.tag = ProtoField.uint16("tlp.tag", "Tag")
t.first = ProtoField.uint8("tlp.first_be", "First byte enables", base.HEX, nil, 0x0f)
t.last = ProtoField.uint8("tlp.last_be", "Last byte enables", base.HEX, nil, 0xf0)
t.address = ProtoField.uint64("tlp.address", "Address", base.HEX)
t.status = ProtoField.uint16("tlp.status", "Completion status", base.DEC, statuses, 0xe000)
t.count = ProtoField.uint16("tlp.byte_count", "Byte count", base.DEC, nil, 0x0fff)
t.lower = ProtoField.uint8("tlp.lower_address", "Lower address", base.HEX, nil, 0x7f)
t.payload = ProtoField.bytes("tlp.payload", "Payload")
t.ecrc = ProtoField.uint32("tlp.ecrc", "ECRC", base.HEX)
t.lcrc = ProtoField.uint32("tlp.lcrc", "LCRC", base.HEX)
t.good = ProtoField.bool("tlp.lcrc_good", "LCRC is right")

local d = dllp.fields
d.kind = ProtoField.string("dllp.kind", "Kind")
d.sequence = ProtoField.uint16("dllp.sequence", "Sequence number", base.DEC, nil, 0xfff)
d.headers = ProtoField.uint8("dllp.header_credits", "Header credits (field)")
d.data = ProtoField.uint16("dllp.data_credits", "Data credits (field)")
d.crc = ProtoField.uint16("dllp.crc", "CRC", base.HEX)
d.good = ProtoField.bool("dllp.crc_good", "CRC is right")

-- Both CRCs are reflected, preset and complemented.
local function reflected(polynomial)
    local rows = {}
    for index = 0, 255 do
        local value = index
        for _ = 1, 8 do
            local low = bit.band(value, 1)
            value = bit.rshift(value, 1)
            if low == 1 then value = bit.bxor(value, polynomial) end
        end
        rows[index] = value
    end
    return rows
end

local crc32_rows, crc16_rows = reflected(0xedb88320), reflected(0xd008)

local function crc(rows, preset, bytes)
    local value = preset
    for place = 0, bytes:len() - 1 do
        local row = rows[bit.band(bit.bxor(value, bytes:get_index(place)), 0xff)]
        value = bit.bxor(bit.rshift(value, 8), row)
    end
    return bit.band(bit.bnot(value), preset)
end

local function unsigned(value)
    return value % 0x100000000
end

local kinds = {
    [0x00] = "MRd", [0x20] = "MRd", [0x40] = "MWr", [0x60] = "MWr", [0x0a] = "Cpl", [0x4a] = "CplD",
}

local function request(buffer, tree, long)
    tree:add(t.requester, buffer(4, 2))
    tree:add(t.last, buffer(7, 1))
    tree:add(t.first, buffer(7, 1))
    if long then
        tree:add(t.address, buffer(8, 8))
        return buffer(8, 8):uint64():tohex()
    end
    tree:add(t.address, buffer(8, 4), UInt64(buffer(8, 4):uint()))
    return string.format("%08x", buffer(8, 4):uint())
end

local function completion(buffer, tree)
    tree:add(t.completer, buffer(4, 2))
    tree:add(t.status, buffer(6, 2))
    tree:add(t.count, buffer(6, 2))
    tree:add(t.requester, buffer(8, 2))
    tree:add(t.lower, buffer(11, 1))
    return string.format("%d left", bit.band(buffer(6, 2):uint(), 0xfff))
end

function tlp.dissector(all, pinfo, root)
    local tree = root:add(tlp, all())
    tree:add(t.sequence, all(0, 2))
    local size = all:len()
    local buffer = all(2, size - 6):tvb()
    local kind = kinds[buffer(0, 1):uint()] or string.format("0x%02x", buffer(0, 1):uint())
    tree:add(t.kind, buffer(0, 1), kind)
    tree:add(t.class, buffer(1, 1))
    tree:add(t.digest, buffer(2, 1))
    local length = bit.band(buffer(2, 2):uint(), 0x3ff)
    if length == 0 and kind ~= "Cpl" then length = 1024 end
    tree:add(t.length, buffer(2, 2), length)
    local is_completion = kind == "Cpl" or kind == "CplD"
    local low = buffer(is_completion and 10 or 6, 1)
    local high = buffer(1, 1):uint()
    local tag = low:uint() + bit.band(bit.rshift(high, 3), 1) * 256 + bit.rshift(high, 7) * 512
    tree:add(t.tag, low, tag)
    local long = bit.band(buffer(0, 1):uint(), 0x20) ~= 0
    local about = is_completion and completion(buffer, tree) or request(buffer, tree, long)
    local header = long and 16 or 12
    local has_digest = bit.band(buffer(2, 1):uint(), 0x80) ~= 0
    local payload = buffer:len() - header - (has_digest and 4 or 0)
    if payload > 0 then tree:add(t.payload, buffer(header, payload)) end
    if has_digest then tree:add_le(t.ecrc, buffer(header + payload, 4)) end
    local sent = all(size - 4, 4)
    tree:add_le(t.lcrc, sent)
    local covered = all(0, size - 4):bytes()
    covered:set_index(0, bit.band(covered:get_index(0), 0x0f))
    local good = unsigned(crc(crc32_rows, 0xffffffff, covered)) == sent:le_uint()
    tree:add(t.good, sent, good)
    pinfo.cols.protocol = "TLP"
    pinfo.cols.info = string.format("%s %d DW, tag %d, %s%s", kind, length, tag, about, good and "" or ", LCRC is wrong")
end

local phases = { [0x40] = "InitFC1", [0xc0] = "InitFC2", [0x80] = "UpdateFC" }
local pools = { [0x00] = "P", [0x10] = "NP", [0x20] = "Cpl" }

local function dllp_kind(first)
    if first == 0x00 then return "Ack", true end
    if first == 0x10 then return "Nak", true end
    local phase, pool = phases[bit.band(first, 0xc8)], pools[bit.band(first, 0x30)]
    if phase and pool then return phase .. "-" .. pool, false end
    return string.format("0x%02x", first), nil
end

function dllp.dissector(buffer, pinfo, root)
    local tree = root:add(dllp, buffer())
    local kind, sequenced = dllp_kind(buffer(0, 1):uint())
    tree:add(d.kind, buffer(0, 1), kind)
    local about = ""
    if sequenced then
        tree:add(d.sequence, buffer(2, 2))
        about = string.format(" %d", bit.band(buffer(2, 2):uint(), 0xfff))
    elseif sequenced == false then
        local word = buffer(1, 3):uint()
        tree:add(d.headers, buffer(1, 2), bit.band(bit.rshift(word, 14), 0xff))
        tree:add(d.data, buffer(2, 2), bit.band(word, 0xfff))
        about = string.format(" headers %d, data %d", bit.band(bit.rshift(word, 14), 0xff), bit.band(word, 0xfff))
    end
    tree:add_le(d.crc, buffer(4, 2))
    local good = crc(crc16_rows, 0xffff, buffer(0, 4):bytes()) == buffer(4, 2):le_uint()
    tree:add(d.good, buffer(4, 2), good)
    pinfo.cols.protocol = "DLLP"
    pinfo.cols.info = kind .. about .. (good and "" or ", CRC is wrong")
end

function record.dissector(buffer, pinfo, root)
    if buffer:len() < HEADER + 3 then return 0 end
    local tree = root:add(record, buffer(0, HEADER))
    tree:add_le(r.number, buffer(0, 4))
    tree:add_le(r.time, buffer(4, 8))
    tree:add_le(r.bytes, buffer(14, 2))
    tree:add_le(r.upstream, buffer(16, 4))
    tree:add_le(r.speed, buffer(16, 4))
    tree:add_le(r.width, buffer(16, 4))
    local upstream = bit.band(buffer(16, 4):le_uint(), 0x10000000) ~= 0
    pinfo.cols.src = upstream and "GPU" or "host"
    pinfo.cols.dst = upstream and "host" or "GPU"
    local packet = buffer(HEADER + 1, buffer:len() - HEADER - 2):tvb()
    local start, finish = buffer(HEADER, 1):uint(), buffer(buffer:len() - 1, 1):uint()
    if finish ~= FINISH then return 0 end
    if start == STP then tlp.dissector(packet, pinfo, root) end
    if start == SDP then dllp.dissector(packet, pinfo, root) end
    return buffer:len()
end

DissectorTable.get("wtap_encap"):add(wtap.USER11, record)
