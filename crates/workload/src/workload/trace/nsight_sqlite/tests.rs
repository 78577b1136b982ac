//! What is read out of the database, and what is refused.

use crate::{
    files::Refusal,
    sim::Control,
    workload::trace::{
        CallKind, DeviceKind, Direction, Input, Memory, Place, Trace, Waited, read,
        testing::{refused, says},
    },
};
use rusqlite::Connection;
use std::io::Write;
use tempfile::NamedTempFile;

/// As `nsys export` describes its tables, without the columns that nothing here reads.
const SCHEMA: &str = "
    CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
    CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,
        copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER, graphNodeId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
        globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
    CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, syncType INTEGER NOT NULL, eventId INTEGER NOT NULL);
    CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL);";

/// Two processes, 100 and 200, that number their calls alike.
const ROWS: &str = "
    INSERT INTO StringIds VALUES (1, 'cudaMemcpyAsync_v3020'), (2, 'gemm(float*)'), (3, 'ncclDevKernel_AllReduce()');
    INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device');
    INSERT INTO ENUM_CUDA_MEM_KIND VALUES (1, 'CUDA_MEMOPR_MEMORY_KIND_PINNED', 'Pinned');
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1500, 0, 100 * 16777216 + 101, 5, 1, 0);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1100, 1600, 0, 200 * 16777216 + 201, 5, 1, 700);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (2000, 3000, 0, 1, 7, 5, 200 * 16777216, 123456789, 1, 1, 2, NULL);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (4000, 4500, 1, 1, 8, 5, 100 * 16777216, 99, 12, NULL, NULL, 6);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (5000, 5001, 0, 7, 0, 100 * 16777216, 64);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (6000, 7000, 0, 7, 9, 100 * 16777216, 2), (7000, 9000, 0, 7, 9, NULL, 3);
    INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1, 2, 0, 7, 5, 100 * 16777216, 3, 0);
    INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1, 2, 0, 4294967295, 5, 100 * 16777216, 4, 0);
    INSERT INTO OSRT_API VALUES (1, 2), (3, 4);";

fn file(more: &str) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    let connection = Connection::open(file.path()).unwrap();
    connection.execute_batch(&format!("{SCHEMA}{ROWS}{more}")).unwrap();
    file
}

fn opened(file: &NamedTempFile) -> Result<Trace, Refusal> {
    read(Input::Path(file.path()), None, &mut |_, _| Control::Continue)
}

#[test]
fn a_packed_database_is_read_like_itself_and_refused_where_it_is_cut() {
    let plain = file("");
    let bytes = std::fs::read(plain.path()).unwrap();
    let packed = |bytes: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(NamedTempFile::new().unwrap(), flate2::Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    };
    assert_eq!(opened(&packed(&bytes)).unwrap(), opened(&plain).unwrap());
    // What is behind the database is not unpacked.
    assert_eq!(opened(&packed(&[&bytes[..], &[0; 100_000]].concat())).unwrap(), opened(&plain).unwrap());
    let error = opened(&packed(&bytes[..bytes.len() / 2])).unwrap_err();
    assert!(error.to_string().contains("ends in the middle"), "{error}");
}

#[test]
fn rows_become_operations_and_calls() {
    let trace = opened(&file("")).unwrap();
    assert_eq!((trace.format, trace.events.all, trace.events.used), (Some(super::FORMAT.name), 11, 9));
    assert_eq!(trace.events.left_out, [("table OSRT_API is not read".to_owned(), 2)]);
    let kind = DeviceKind::Copy {
        direction: Direction::H2d,
        bytes: 123_456_789,
        source: Memory::Pinned,
        target: Memory::Device,
    };
    let copy = &trace.device[0];
    assert_eq!((copy.kind.clone(), copy.start_ns, copy.duration_ns, copy.stream), (kind, 1000, 1000, 7));
    assert_eq!(copy.place, Place::Row { table: &"CUPTI_ACTIVITY_KIND_MEMCPY", row: 1 });
    // Of pages that move only the kind of copy says what memory they are of.
    let kind =
        DeviceKind::Copy { direction: Direction::D2h, bytes: 99, source: Memory::Device, target: Memory::Managed };
    assert_eq!((trace.device[1].kind.clone(), trace.device[1].device, trace.device[1].in_graph), (kind, 1, true));
    assert_eq!(trace.device[2].kind, DeviceKind::Memset { bytes: 64 });
    assert_eq!((trace.device[3].kind.clone(), trace.name(trace.device[3].name)), (DeviceKind::Kernel, "gemm(float*)"));
    assert!(matches!(trace.device[4].kind, DeviceKind::Collective(_)));
}

#[test]
fn processes_number_their_calls_each_for_itself() {
    let trace = opened(&file("")).unwrap();
    assert_eq!(trace.launches(), [Some(1), Some(0), None, None, None]);
    assert_eq!((trace.calls[0].what, trace.threads[1].process.as_str()), (CallKind::Copy { blocking: false }, "200"));
    assert!(
        says(&trace, "1 calls returned an error") && says(&trace, "1 operations do not say which of several processes")
    );
    let waits: Vec<_> = trace.synchronizations.iter().map(|wait| (wait.host_waits_for, wait.stream)).collect();
    assert_eq!(waits, [(Some(Waited::Stream), Some(7)), (Some(Waited::Device), None)]);
}

#[test]
fn the_latest_version_of_a_table_with_rows_is_read() {
    let renamed = |table: &str, name: &str| {
        format!("ALTER TABLE CUPTI_ACTIVITY_KIND_{table} RENAME TO CUPTI_ACTIVITY_KIND_{name};")
    };
    let older = "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_V2 AS SELECT 1 AS x, 2 AS y; CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_V9 (start);";
    let all = ["RUNTIME", "MEMCPY", "MEMSET", "KERNEL", "SYNCHRONIZATION"]
        .map(|table| renamed(table, &format!("{table}_V2")));
    for (more, left_out) in [
        (renamed("KERNEL", "KERNEL_V3"), 0),
        (renamed("KERNEL", "CONCURRENT_KERNEL"), 0),
        (renamed("KERNEL", "CONCURRENT_KERNEL_V4") + older, 1),
        (all.concat(), 0),
    ] {
        let trace = opened(&file(&more)).unwrap();
        assert_eq!((trace.device.len(), trace.calls.len(), trace.synchronizations.len()), (5, 2, 2), "{more}");
        assert_eq!(trace.events.all, 11 + left_out, "{more}");
    }
    let ranges = "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, text TEXT, textId INTEGER, globalTid INTEGER);
        INSERT INTO StringIds VALUES (9, 'train_step');
        INSERT INTO NVTX_EVENTS VALUES (1000, 4000, NULL, 9, 1), (4000, 8000, NULL, 9, 1), (500, NULL, 'step', NULL, 1), (1, 2, 'x', NULL, 1);";
    let trace = opened(&file(ranges)).unwrap();
    assert_eq!(trace.marks, [(0, 3000), (3000, 7000), (7000, 7001)]);
    assert_eq!(trace.events.left_out[0], ("range of NVTX: nothing is done by it".to_owned(), 4));
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    for (more, what) in [
        ("DROP TABLE StringIds;", "the table StringIds is missing"),
        (
            "ALTER TABLE CUPTI_ACTIVITY_KIND_MEMCPY DROP COLUMN bytes;",
            "the table CUPTI_ACTIVITY_KIND_MEMCPY lacks the column bytes",
        ),
        (
            "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 0;",
            "table CUPTI_ACTIVITY_KIND_MEMCPY, row 1: `copyKind` 0 does not say",
        ),
        ("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = -1;", "`bytes` is -1"),
        ("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = 'x';", "`bytes` is no whole number"),
        ("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 0;", "ends 6000 ns before it starts"),
        ("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = -9223372036854775808;", "is no date"),
        (
            "UPDATE StringIds SET value = CAST(zeroblob(2000000) AS TEXT) WHERE id = 2;",
            "KERNEL, row 1: the name 2 is too long for any name",
        ),
        ("DELETE FROM StringIds;", "the name 1 is not in the table StringIds"),
    ] {
        let refused = refused(opened(&file(more)));
        assert!(refused.contains(what), "{refused}");
    }
}

#[test]
fn other_databases_are_refused() {
    let other = NamedTempFile::new().unwrap();
    Connection::open(other.path()).unwrap().execute_batch("CREATE TABLE StringIds (id, value);").unwrap();
    assert!(refused(opened(&other)).contains("without tables of Nsight Systems about CUDA"));
    let content = std::fs::read(file("").path()).unwrap();
    let bytes = Input::Bytes { name: "it", bytes: &content };
    assert!(refused(read(bytes, None, &mut |_, _| Control::Continue)).contains("from a file only"));
}

/// The same database with a table whose tree refers to each page sixty times: one row, 60 to the power of 15 times.
fn bomb(table: &str, more: &str) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    let connection = Connection::open(file.path()).unwrap();
    connection.execute_batch(&format!("PRAGMA page_size = 512; {SCHEMA}{ROWS}{more}")).unwrap();
    let root = format!("SELECT rootpage FROM sqlite_master WHERE name = '{table}'");
    let root = 512 * (connection.query_row(&root, [], |row| row.get::<_, u32>(0)).unwrap() as usize - 1);
    drop(connection);
    let mut bytes = std::fs::read(file.path()).unwrap();
    let leaf = bytes[root..root + 512].to_vec();
    bytes.extend(leaf);
    for _ in 0..15 {
        let child = u32::try_from(bytes.len() / 512).unwrap().to_be_bytes();
        let mut page = vec![5, 0, 0, 0, 60, 0, 212, 0];
        page.extend(child);
        page.extend((0..60_u16).flat_map(|cell| (212 + 5 * cell).to_be_bytes()));
        page.resize(212, 0);
        page.extend([child[0], child[1], child[2], child[3], 1].repeat(60));
        bytes.extend(page);
    }
    let top = bytes.split_off(bytes.len() - 512);
    bytes[root..root + 512].copy_from_slice(&top);
    let pages = u32::try_from(bytes.len() / 512).unwrap().to_be_bytes();
    bytes[28..32].copy_from_slice(&pages);
    std::fs::write(file.path(), bytes).unwrap();
    file
}

#[test]
fn a_table_that_shows_more_rows_than_its_file_has_bytes_is_refused() {
    let unlabelled = "DELETE FROM ENUM_CUDA_MEM_KIND; INSERT INTO ENUM_CUDA_MEM_KIND VALUES (1, NULL, NULL);";
    let unordered =
        "ALTER TABLE StringIds RENAME TO x; CREATE TABLE StringIds (id, value); INSERT INTO StringIds VALUES (9, 'x');";
    for (table, more, what) in [
        ("OSRT_API", "", "the table OSRT_API shows more rows than a file"),
        ("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "", "KIND_SYNCHRONIZATION shows more rows than a file"),
        ("ENUM_CUDA_MEM_KIND", unlabelled, "the table ENUM_CUDA_MEM_KIND shows more rows than a file"),
        ("StringIds", unordered, "RUNTIME, row 1: the name 1 takes too long to find"),
    ] {
        let refused = refused(opened(&bomb(table, more)));
        assert!(refused.contains(what) && refused.contains("export the report again"), "{refused}");
    }
}

#[test]
fn rows_that_are_only_counted_end_when_somebody_says_so() {
    let many = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 10000) INSERT INTO OSRT_API SELECT x, x FROM n;";
    let file = file(many);
    assert_eq!(opened(&file).unwrap().events.left_out, [("table OSRT_API is not read".to_owned(), 10_002)]);
    let stopped = read(Input::Path(file.path()), None, &mut |_, _| Control::Stop);
    assert!(stopped.unwrap_err().is("trace::stopped"));
}

#[test]
fn what_poses_as_a_table_is_not_run() {
    let view = "VIEW CUPTI_ACTIVITY_KIND_DRIVER AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";
    for (kind, sql) in
        [("table", view), ("view", view), ("table", "/**/ VIRTUAL TABLE CUPTI_ACTIVITY_KIND_DRIVER USING fts5(a)")]
    {
        let names = "'CUPTI_ACTIVITY_KIND_DRIVER', 'CUPTI_ACTIVITY_KIND_DRIVER'";
        let posing = format!(
            "PRAGMA writable_schema = ON; INSERT INTO sqlite_master VALUES ('{kind}', {names}, 0, 'CREATE {sql}');"
        );
        let read = opened(&file(&posing));
        assert!(read.is_err() || read.unwrap() == opened(&file("")).unwrap(), "{sql}");
    }
}

#[test]
fn damaged_databases_are_refused_or_add_up() {
    let content = std::fs::read(file("").path()).unwrap();
    let damaged = NamedTempFile::new().unwrap();
    for place in (16..content.len()).step_by(97) {
        let mut copy = content.clone();
        copy[place] ^= 0x5a;
        std::fs::write(damaged.path(), copy).unwrap();
        assert!(opened(&damaged).is_ok_and(|trace| trace.events.add_up()) || opened(&damaged).is_err());
        std::fs::write(damaged.path(), &content[..place]).unwrap();
        assert!(opened(&damaged).is_err());
    }
}
