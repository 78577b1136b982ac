"""Small files in the shape of each producer of profiles, made here and played: JSON of the PyTorch profiler from 2021 to 2026, on NVIDIA and ROCm; databases
and tables of Nsight Systems; Chakra traces with and without attributes, written and read with protobuf (BSD-3-Clause) by the published schema
(mlcommons/chakra, `schema/protobuf/et_def.proto`, 0.0.4; MIT)."""

import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile

from count import Count
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal.decoder import _DecodeVarint
from google.protobuf.internal.encoder import _VarintBytes
from google.protobuf.unknown_fields import UnknownFieldSet

# The program of all: a copy of 1 MiB to the GPU, a kernel, a copy of 4 KiB back, and a wait; ns.
# What, start and duration of its call, of its operation, bytes.
PROGRAM = [("h2d", 0, 40_000, 9_000, 30_000, 1 << 20), ("kernel", 50_000, 5_000, 57_000, 80_000, 0), ("d2h", 60_000, 6_000, 140_000, 3_000, 4096)]
WAIT = (70_000, 76_000)
END = 143_000 - 9_000


def kineto(era):
    """Events of Kineto: how an era names categories and copies, and what it writes besides."""
    rocm, old = era.startswith("rocm"), era == "2021"
    runtime, memcpy, kernel = ("Runtime", "Memcpy", "Kernel") if old else ("cuda_runtime", "gpu_memcpy", "kernel")
    api = {"h2d": "cudaMemcpyAsync", "d2h": "cudaMemcpyAsync", "kernel": "cudaLaunchKernel", "wait": "cudaDeviceSynchronize"}
    if rocm:
        api = {what: name.replace("cuda", "hip") for what, name in api.items()}
    names = {"h2d": "Memcpy HtoD (Pinned -> Device)", "d2h": "Memcpy DtoH (Device -> Pinned)", "kernel": "void gemm<float>(float*)"}
    if rocm:
        names |= {"h2d": "Memcpy HtoD (Host -> Device)", "d2h": "Memcpy DtoH (Device -> Host)"}
    launch_category, launch = ("cuda_driver", "cuLaunchKernelEx") if era == "2026" else (runtime, api["kernel"])
    exact = era in ("2024", "2026")

    def time(ns):
        return ns / 1000 if exact else ns // 1000

    def event(cat, name, start, duration, pid, tid, args):
        return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": time(start), "dur": time(duration), "args": args}

    made = []
    for number, (what, called, took, begins, lasts, moved) in enumerate(PROGRAM, 1):
        category, name = (launch_category, launch) if what == "kernel" else (runtime, api[what])
        made.append(event(category, name, called, took, 42, 43, {"cbid": 211, "correlation": number, "External id": number}))
        args = {"device": 0, "context": 1, "stream": 7, "correlation": number, "External id": number}
        if what == "kernel":
            args |= {"registers per thread": 40, "grid": [256, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": 12}
            made.append(event(kernel, names[what], begins, lasts, 0, "stream 7" if old else 7, args))
        else:
            args |= {} if era == "rocm-2023" else {"bytes": moved, "memory bandwidth (GB/s)": moved / lasts}
            made.append(event(memcpy, names[what], begins, lasts, 0, "stream 7" if old else 7, args))
    made.append(event(runtime, api["wait"], WAIT[0], WAIT[1], 42, 43, {"cbid": 165, "correlation": 9}))
    used = len(made)
    made.append(event("Operator" if old else "cpu_op", "aten::copy_", 0, 45_000, 42, 43, {"External id": 1}))
    made.append({"ph": "M", "name": "process_name", "pid": 42, "tid": 0, "ts": 0, "args": {"name": "python"}})
    flow = "async" if old else "ac2g"
    made += [{"ph": phase, "id": 1, "pid": 0, "tid": 7, "ts": 9, "cat": flow, "name": flow} for phase in ("s", "f")]
    if era == "2026":
        sync = {"stream": 7, "correlation": 9, "device": 0, "context": 1, "wait_on_stream": 7}
        made.append(event("cuda_sync", "Context Sync", WAIT[0], WAIT[1], 0, 7, sync))
        used += 1
        made.append(event("python_function", "nn.Module: Linear_0", 0, 45_000, 42, 43, {}))
    head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X" if rocm else "NVIDIA H100 PCIe"}], "traceEvents": made}
    if era == "2021":
        return made, used, len(made)
    if exact:
        head |= {"displayTimeUnit": "ms", "baseTimeNanoseconds": 1_700_000_000_000_000_000, "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1}}
    return head, used, len(made)


def database(path, views):
    """An export of Nsight Systems; some have views over its tables."""
    rows = sqlite3.connect(path)
    rows.executescript(
        """
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
        CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
        INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device'), (2, 'CUDA_MEMCPY_KIND_DTOH', 'Device-to-Host');
        INSERT INTO ENUM_CUDA_MEM_KIND VALUES (1, 'CUDA_MEMOPR_MEMORY_KIND_PINNED', 'Pinned'), (2, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE', 'Device');
        INSERT INTO StringIds VALUES (1, 'cudaMemcpyAsync_v3020'), (2, 'cudaLaunchKernel_v7000'), (3, 'cudaDeviceSynchronize_v3020'), (4, 'gemm(float*)'), (5, 'gemm');
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER,
            nameId INTEGER NOT NULL, returnValue INTEGER, callchainId INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
            correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER, graphNodeId INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
            correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, gridX INTEGER, graphNodeId INTEGER);
        """
    )
    process = 42 << 24
    for number, (what, called, took, begins, lasts, moved) in enumerate(PROGRAM, 1):
        call = (called, called + took, 0, process + 43, number, 2 if what == "kernel" else 1, 0, None)
        rows.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, ?, ?, ?, ?)", call)
        place = (begins, begins + lasts, 0, 1, 7, number, process)
        if what == "kernel":
            rows.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, ?, ?, ?, ?, 4, 5, 256, NULL)", place)
        else:
            kinds = (1, 1, 2) if what == "h2d" else (2, 2, 1)
            rows.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)", (*place, moved, *kinds))
    rows.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, 9, 3, 0, NULL)", (WAIT[0], sum(WAIT), process + 43))
    if views:
        rows.executescript(
            """
            CREATE VIEW CUDA_GPU_TRACE AS SELECT start, end - start AS duration FROM CUPTI_ACTIVITY_KIND_KERNEL;
            CREATE VIEW CUDA_API AS SELECT start, end - start AS duration FROM CUPTI_ACTIVITY_KIND_RUNTIME;
            """
        )
    rows.commit()
    rows.close()


def tables(folder, unit, divide):
    """The two tables of `nsys stats`, with times in a unit."""
    gpu = [f"Start ({unit}),Duration ({unit}),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name"]
    api = [f"Start ({unit}),Duration ({unit}),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name"]
    names = {"h2d": "[CUDA memcpy Host-to-Device]", "d2h": "[CUDA memcpy Device-to-Host]", "kernel": '"gemm(float *, float *, int)"'}
    for number, (what, called, took, begins, lasts, moved) in enumerate(PROGRAM, 1):
        api.append(f"{called / divide:g},{took / divide:g},{'cudaLaunchKernel' if what == 'kernel' else 'cudaMemcpyAsync'},0,{number},42,43,20,job")
        size = f"{moved / 1e6:.3f},{moved * 1e3 / lasts:.3f}" if moved else ","
        memory = {"h2d": "Pinned,Device", "d2h": "Device,Pinned", "kernel": ","}[what]
        shape = "256,1,1,128,1,1,40" if what == "kernel" else ",,,,,,"
        gpu.append(f"{begins / divide:g},{lasts / divide:g},{number},{shape},{size},{memory},NVIDIA H100 PCIe (0),1,7,{names[what]}")
    api.append(f"{WAIT[0] / divide:g},{WAIT[1] / divide:g},cudaDeviceSynchronize,0,9,42,43,20,job")
    paths = [folder / f"job-{unit}_cuda_gpu_trace.csv", folder / f"job-{unit}_cuda_api_trace.csv"]
    for path, lines in zip(paths, [gpu, api]):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return paths


def schema():
    """`et_def.proto`: messages of a node, an attribute and the head, by their published numbers."""
    file = descriptor_pb2.FileDescriptorProto(name="et_def.proto", package="ChakraProtoMsg", syntax="proto3")
    kinds = descriptor_pb2.FieldDescriptorProto
    plain = {"uint64": kinds.TYPE_UINT64, "string": kinds.TYPE_STRING, "int32": kinds.TYPE_INT32, "int64": kinds.TYPE_INT64, "bool": kinds.TYPE_BOOL}

    def message(name, fields, choice=None):
        made = file.message_type.add(name=name)
        if choice:
            made.oneof_decl.add(name=choice)
        for field, number, kind, many in fields:
            one = made.field.add(name=field, number=number, label=kinds.LABEL_REPEATED if many else kinds.LABEL_OPTIONAL)
            if kind in plain:
                one.type = plain[kind]
            else:
                one.type, one.type_name = kinds.TYPE_MESSAGE, f".ChakraProtoMsg.{kind}"
            if choice and field.endswith("_val"):
                one.oneof_index = 0

    values = [("int32_val", 7, "int32", False), ("int64_val", 9, "int64", False), ("uint64_val", 13, "uint64", False)]
    values += [("bool_val", 27, "bool", False), ("string_val", 29, "string", False)]
    message("AttributeProto", [("name", 1, "string", False), ("doc_string", 2, "string", False), *values], "value")
    message("IOInfo", [("values", 1, "string", False), ("shapes", 2, "string", False), ("types", 3, "string", False)])
    message("GlobalMetadata", [("version", 1, "string", False), ("attr", 2, "AttributeProto", True)])
    head = [("id", 1, "uint64", False), ("name", 2, "string", False), ("type", 3, "int32", False), ("ctrl_deps", 4, "uint64", True)]
    head += [("data_deps", 5, "uint64", True), ("start_time_micros", 6, "uint64", False), ("duration_micros", 7, "uint64", False)]
    message("Node", [*head, ("inputs", 8, "IOInfo", False), ("outputs", 9, "IOInfo", False), ("attr", 10, "AttributeProto", True)])
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return [message_factory.GetMessageClass(pool.FindMessageTypeByName(f"ChakraProtoMsg.{name}")) for name in ("GlobalMetadata", "Node")]


def chakra(attributes, metadata, node):
    """A trace: nodes of the GPU, with all that is known of them or as bare as the schema allows."""
    types = {"h2d": 2, "d2h": 3, "kernel": 4}
    made = [metadata(version="0.0.4")]
    for number, (what, _, _, begins, lasts, moved) in enumerate(PROGRAM, 1):
        one = node(id=number, name=what, type=types[what], start_time_micros=begins // 1000, duration_micros=lasts // 1000)
        if number > 1:
            one.data_deps.append(number - 1)
        if attributes:
            one.attr.add(name="is_cpu_op", bool_val=False)
            one.attr.add(name="stream", int64_val=7)
        if moved:
            one.attr.add(name="tensor_size", uint64_val=moved)
        made.append(one)
    return b"".join(_VarintBytes(len(data)) + data for data in (one.SerializeToString() for one in made))


def messages(data, metadata, node):
    """The head and the nodes of a trace."""
    place, read = 0, []
    while place < len(data):
        length, place = _DecodeVarint(data, place)
        read.append((node if read else metadata).FromString(data[place : place + length]))
        place += length
    return read


def play(*arguments):
    """What `replay` says of a profile: its document, or why there is none."""
    done = subprocess.run([os.environ["SEALSIM"], "replay", *map(str, arguments), "--off", "profile", "--format", "json"], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def judge(count, what, document, used, events=None, sized=True):
    """Events are all counted, the run without confidential computing is the profile, and the one with it takes longer."""
    if isinstance(document, str):
        count.same(what, document, "a document")
        return
    count.same(f"{what}: used", document["events"]["used"], used)
    if events is not None:
        counted = document["events"]["used"] + sum(one["count"] for one in document["events"]["left_out"])
        count.same(f"{what}: all", counted, events)
    off, cc = document["runs"][:2]
    count.same(f"{what}: end", (off["end_ns"], document["profile_end_ns"]), (END, END))
    count.same(f"{what}: longer with CC", cc["end_ns"] > off["end_ns"], sized)


def main():
    count = Count()
    metadata, node = schema()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for era in ("2021", "2022", "2024", "2026", "rocm-2023", "rocm-2026"):
            content, used, events = kineto(era)
            path = folder / f"kineto-{era}.json"
            path.write_text(json.dumps(content, indent=2 if era == "2022" else None), encoding="utf-8")
            judge(count, f"Kineto {era}", play(path), used, events, era != "rocm-2023")
        for views in (False, True):
            path = folder / f"nsys-{views}.sqlite"
            database(path, views)
            judge(count, f"Nsight Systems, database, views {views}", play(path), 7)
        for unit, divide in (("ns", 1), ("us", 1e3)):
            gpu, api = tables(folder, unit, divide)
            judge(count, f"Nsight Systems, tables in {unit}", play(gpu, "--api", api), 7, 7)
        for attributes in (False, True):
            path, written = folder / f"chakra-{attributes}.et", folder / f"written-{attributes}.et"
            path.write_bytes(chakra(attributes, metadata, node))
            judge(count, f"Chakra, attributes {attributes}", play(path, "--chakra", written), 3)
            if not written.exists():
                continue
            head, *nodes = messages(written.read_bytes(), metadata, node)
            known = {one.id for one in nodes}
            count.same("Chakra, version", head.version, "0.0.4")
            count.same("Chakra, numbers", len(known), len(nodes))
            count.same("Chakra, waits for what is there", all(known.issuperset([*one.ctrl_deps, *one.data_deps]) for one in nodes), True)
            unknown = [one.id for one in nodes if len(UnknownFieldSet(one)) > 0]
            count.same("Chakra, nothing beyond the schema", unknown, [])
    count.close()


main()
