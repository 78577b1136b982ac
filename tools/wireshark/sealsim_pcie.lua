-- Dissects PCIe captures of sealsim in Wireshark and tshark: link type USER11, record header, TLP or DLLP. Completions lead to their requests and back, and
-- what breaks a rule across packets stands in the tree and in pcie_record.fault, with its code in the table of crates/pcie/src/items/stream.rs: all of its rules, as
-- `sealsim tlp decode --stream` judges the packets of a link in both directions.
--
--   tshark -X lua_script:sealsim_pcie.lua -r link.pcapng -Y 'pcie_record.upstream == 1 && tlp.kind == "MRd"'
--   tshark -X lua_script:sealsim_pcie.lua -r link.pcapng -T fields -E separator=/s -e pcie_record.way -e pcie_record.packet |
--       sealsim tlp decode --wire=gen1 --stream
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
r.way = ProtoField.string("pcie_record.way", "Way")
r.packet = ProtoField.bytes("pcie_record.packet", "Packet with its symbols")
r.fault = ProtoField.string("pcie_record.fault", "Fault")
local expert_fault = ProtoExpert.new("pcie_record.fault.expert", "Against a rule across packets", expert.group.PROTOCOL, expert.severity.ERROR)
record.experts = { expert_fault }

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
t.answers = ProtoField.framenum("tlp.request_in", "Answers the request in", base.NONE, frametype.REQUEST)
t.answered = ProtoField.framenum("tlp.completion_in", "Answered in", base.NONE, frametype.RESPONSE)

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
    [0x01] = "MRdLk", [0x21] = "MRdLk", [0x0b] = "CplLk", [0x4b] = "CplDLk", [0x5b] = "DMWr", [0x7b] = "DMWr",
    [0x02] = "IORd", [0x42] = "IOWr", [0x04] = "CfgRd0", [0x44] = "CfgWr0", [0x05] = "CfgRd1", [0x45] = "CfgWr1",
    [0x4c] = "FetchAdd", [0x6c] = "FetchAdd", [0x4d] = "Swap", [0x6d] = "Swap", [0x4e] = "CAS", [0x6e] = "CAS",
}

-- Requests that are outstanding, by link, way, requester and tag; senders by link and way; what was found of each frame when it was first seen.
local outstanding, senders, found = {}, {}, {}

function record.init()
    outstanding, senders, found = {}, {}, {}
end

local function tell(seen, kept, code, text, ...)
    if not kept then table.insert(seen.faults, string.format(code .. ": " .. text, ...)) end
end

-- Bytes that a request has returned, and the low bits of the first one's address.
local function asks(kind, buffer, length)
    if kind == "CAS" then return 2 * length, 0 end
    if kind == "FetchAdd" or kind == "Swap" then return 4 * length, 0 end
    if not kind:find("^MRd") then return 4, 0 end
    local enables = bit.band(buffer(1, 1):uint(), 1) == 0 and buffer(7, 1):uint() or 0xff
    local first, last = bit.band(enables, 0xf), bit.rshift(enables, 4)
    if length == 1 then last = first end
    local before, behind = 0, last == 0 and 3 or 0
    while first ~= 0 and bit.band(bit.rshift(first, before), 1) == 0 do before = before + 1 end
    while last ~= 0 and bit.band(bit.rshift(last, 3 - behind), 1) == 0 do behind = behind + 1 end
    local at = bit.band(buffer:range(bit.band(buffer(0, 1):uint(), 0x20) ~= 0 and 12 or 8, 4):uint(), 0x7c)
    return math.max(4 * length - before - behind, 1), at + before
end

-- Holds a completion against its request; takes away what it brings, and says whether it is the last.
local function answer(seen, asked, kind, buffer, length, class)
    local word, lower = buffer(6, 2):uint(), bit.band(buffer(11, 1):uint(), 0x7f)
    local status, count = bit.rshift(word, 13), bit.band(word, 0xfff)
    if count == 0 then count = 4096 end
    local success, data, returns = status == 0, kind:find("^CplD") ~= nil, not asked.kind:find("Wr")
    local bytes = math.min(4 * length - asked.lower % 4, asked.left)
    local answers = (kind:find("Lk$") ~= nil) == (asked.kind == "MRdLk") and (not success or data == returns) and (status ~= 2 or asked.kind:find("^Cfg"))
    tell(seen, bit.band(word, 0x1000) == 0, "bcm", "BCM is set, which only a completer of PCI-X does")
    tell(seen, class == asked.class, "class", "traffic class or attributes are not those of the %s", asked.kind)
    tell(seen, answers, "answer", "%s with status %d does not answer %s", kind, status, asked.kind)
    if success then
        tell(seen, count == asked.left, "bytes_left", "%d bytes of %s are left, not %d", asked.left, asked.kind, count)
        tell(seen, length <= math.ceil((asked.left + asked.lower % 4) / 4), "bytes_left", "more data than the %d bytes that are left", asked.left)
        tell(seen, lower == asked.lower, "lower_address", "0x%02x is the lower address due, not 0x%02x", asked.lower, lower)
        tell(seen, not data or bytes == asked.left or (asked.lower + bytes) % 64 == 0, "rcb", "it ends where no part of a read may end")
    end
    asked.left, asked.lower = asked.left - bytes, (asked.lower + bytes) % 128
    return not success or not data or asked.left == 0
end

-- A request becomes outstanding, or is answered.
local function pair(seen, kind, buffer, length, tag, line, frame)
    local class = bit.bor(bit.lshift(bit.band(buffer(1, 1):uint(), 0x74), 8), bit.band(buffer(2, 1):uint(), 0x30))
    local is_completion = kind:find("^Cpl") ~= nil
    local key = string.format("%s %s %04x %d", line.link, is_completion and line.back or line.way, buffer(is_completion and 8 or 4, 2):uint(), tag)
    local asked = outstanding[key]
    if is_completion then
        tell(seen, asked, "unknown_tag", "no request with this tag is outstanding")
        if not asked then return end
        seen.answers, found[asked.frame].answered = asked.frame, found[asked.frame].answered or frame
        if answer(seen, asked, kind, buffer, length, class) then outstanding[key] = nil end
    elseif kind ~= "MWr" and kind ~= "Msg" and not kind:find("^0x") then
        tell(seen, not asked, "tag_in_use", "the tag is that of a %s that is outstanding", asked and asked.kind)
        local left, lower = asks(kind, buffer, length)
        outstanding[key] = { frame = frame, kind = kind, class = class, left = left, lower = lower }
    end
end

local function sender_of(line, way)
    local key = line.link .. way
    senders[key] = senders[key] or { sent = {}, pools = {} }
    return senders[key]
end

local function is_before(one, other)
    return (other - one - 1) % 4096 < 2048
end

-- Whether the receiver takes a TLP with this number, and has not before. A TLP with another LCRC under the same number is another.
local function takes(seen, from, sequence, lcrc)
    local first, torn, due = from.next == nil, from.torn, from.next or sequence
    from.torn = false
    if is_before(sequence, due) then
        tell(seen, not from.sent[sequence] or from.sent[sequence] == lcrc, "replay", "TLP %d is sent again, and is another than before", sequence)
    else
        tell(seen, sequence == due or torn, "sequence_gap", "TLP %d is sent, where %d is due", sequence, due)
        if first then from.due = sequence end
        from.next, from.sent[sequence] = (sequence + 1) % 4096, lcrc
    end
    local follows = first or torn or sequence == (from.last + 1) % 4096 or is_before(due, sequence)
    local in_order = follows or not from.oldest or not is_before(from.oldest, sequence)
    tell(seen, in_order, "replay_order", "TLP %d is sent before %d again", sequence, from.oldest or 0)
    from.last = sequence
    local taken = sequence == from.due
    if taken then from.due = (sequence + 1) % 4096 end
    return taken
end

-- An Ack or Nak says what the other end has sent and this one has, even where the capture lacks it.
local function acknowledge(seen, of, sequence)
    if not of.next then return end
    local sent, behind = is_before(sequence, of.next), (sequence + 1) % 4096
    tell(seen, sent, "ack_unsent", "TLP %d was not sent", sequence)
    if not sent then return end
    if is_before(of.due, behind) then of.due = behind end
    if not of.oldest or is_before(of.oldest, behind) then of.oldest = behind end
end

-- Credits of a pool count modulo 2^bits; an advertised 0 is infinite.
local function pool_of(field, width, scale)
    local shift = math.max(2 * scale - 2, 0)
    return { limit = bit.lshift(field, shift), used = 0, modulus = 2 ^ (width + shift), shift = shift, infinite = field == 0 }
end

-- What a DLLP of VC 0 gives to the sender at the other end.
local function give(to, kind, word)
    local phase, class = kind:match("^(%w+)-(%w+)$")
    local headers, data = bit.band(bit.rshift(word, 14), 0xff), bit.band(word, 0xfff)
    local pools = to.pools[class]
    if phase == "InitFC1" and not pools then
        local scales = { bit.rshift(word, 22), bit.band(bit.rshift(word, 12), 3) }
        to.pools[class] = { header = pool_of(headers, 8, scales[1]), data = pool_of(data, 12, scales[2]) }
    elseif phase == "UpdateFC" and pools then
        pools.header.limit, pools.data.limit = bit.lshift(headers, pools.header.shift), bit.lshift(data, pools.data.shift)
    end
end

local function spend(seen, from, kind, data_dw)
    local class = kind:find("^Cpl") and "Cpl" or (kind == "MWr" or kind == "Msg") and "P" or "NP"
    local pools = from.pools[class]
    if not pools then return end
    for name, need in pairs({ header = 1, data = math.ceil(data_dw / 4) }) do
        local pool = pools[name]
        local left = (pool.limit - pool.used) % pool.modulus
        local may = pool.infinite or (left - need) % pool.modulus <= pool.modulus / 2
        tell(seen, may, "credits", "%s needs %d %s credits, and has %d", kind, need, name, left)
        pool.used = (pool.used + need) % pool.modulus
    end
end

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

local function dissect_tlp(all, pinfo, root, line, seen)
    local tree = root:add(tlp, all())
    tree:add(t.sequence, all(0, 2))
    local size = all:len()
    local buffer = all(2, size - 6):tvb()
    local code = buffer(0, 1):uint()
    local kind = kinds[code] or bit.band(code, 0xb8) == 0x30 and "Msg" or string.format("0x%02x", code)
    tree:add(t.kind, buffer(0, 1), kind)
    tree:add(t.class, buffer(1, 1))
    tree:add(t.digest, buffer(2, 1))
    local length = bit.band(buffer(2, 2):uint(), 0x3ff)
    if length == 0 and kind ~= "Cpl" and kind ~= "CplLk" then length = 1024 end
    tree:add(t.length, buffer(2, 2), length)
    local is_completion = kind:find("^Cpl") ~= nil
    local low = buffer(is_completion and 10 or 6, 1)
    local high = buffer(1, 1):uint()
    local tag = low:uint() + bit.band(bit.rshift(high, 3), 1) * 256 + bit.rshift(high, 7) * 512
    tree:add(t.tag, low, tag)
    local long = bit.band(code, 0x20) ~= 0
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
    local from = sender_of(line, line.way)
    if seen.new and not good then from.torn = true end
    if seen.new and good and takes(seen, from, bit.band(all(0, 2):uint(), 0xfff), sent:le_uint()) then
        if bit.band(high, 0x70) == 0 then spend(seen, from, kind, bit.band(code, 0x40) ~= 0 and length or 0) end
        pair(seen, kind, buffer, length, tag, line, pinfo.number)
    end
    if seen.answers then tree:add(t.answers, seen.answers):set_generated() end
    if seen.answered then tree:add(t.answered, seen.answered):set_generated() end
    pinfo.cols.protocol = "TLP"
    pinfo.cols.info = string.format("%s %d DW, tag %d, %s%s", kind, length, tag, about, good and "" or ", LCRC is wrong")
    return tree
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

local function dissect_dllp(buffer, pinfo, root, line, seen)
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
    if seen.new and good and sequenced then acknowledge(seen, sender_of(line, line.back), bit.band(buffer(2, 2):uint(), 0xfff)) end
    if seen.new and good and sequenced == false and bit.band(buffer(0, 1):uint(), 7) == 0 then
        give(sender_of(line, line.back), kind, buffer(1, 3):uint())
    end
    pinfo.cols.protocol = "DLLP"
    pinfo.cols.info = kind .. about .. (good and "" or ", CRC is wrong")
    return tree
end

-- The link that a frame was seen on: the name of its interface without the way.
local interface = Field.new("frame.interface_name")

local function line_of(upstream)
    local name = interface()
    local link = name and tostring(name.value):gsub("%.[dh]2[dh]$", "") or ""
    return { link = link, way = upstream and "<" or ">", back = upstream and ">" or "<" }
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
    local line = line_of(upstream)
    tree:add(r.way, buffer(16, 4), line.way)
    tree:add(r.packet, buffer(HEADER))
    local dissect = start == STP and dissect_tlp or start == SDP and dissect_dllp
    if not dissect then return 0 end
    local seen = found[pinfo.number] or { new = true, faults = {} }
    found[pinfo.number] = seen
    local inner = dissect(packet, pinfo, root, line, seen)
    seen.new = false
    for _, text in ipairs(seen.faults) do
        inner:add(r.fault, text):set_generated():add_proto_expert_info(expert_fault, text)
    end
    if seen.faults[1] then pinfo.cols.info:append(", " .. seen.faults[1]) end
    return buffer:len()
end

DissectorTable.get("wtap_encap"):add(wtap.USER11, record)
