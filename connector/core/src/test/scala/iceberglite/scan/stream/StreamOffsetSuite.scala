package iceberglite.scan.stream

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Fuzz
import iceberglite.scan.stream.StreamPosition._
import iceberglite.spec.IcebergError.InvalidMetadata

/** Tests the JSON of [[StreamOffset]], which the checkpoint of a streaming query contains. */
class StreamOffsetSuite extends AnyFunSuite {
  private val uuid = UUID.fromString("11111111-2222-3333-4444-555555555555")

  private val offsets = Vector(
    StreamOffset(Empty),
    StreamOffset(Empty, table = Some(uuid)),
    StreamOffset(InSnapshot(Long.MaxValue, 0), table = Some(uuid)),
    StreamOffset(InCommit(7, 123456789012L), 3, Some(uuid)),
    StreamOffset(InApacheIcebergCommit(7, 2)),
    StreamOffset(After(7), Int.MaxValue)
  )

  test("an offset that was written as JSON is read as the same offset") {
    for (offset <- offsets) assert(StreamOffset.parse(StreamOffset.toJson(offset)) == offset)
    assert(StreamOffset.toJson(StreamOffset(After(7), 2, Some(uuid))) ==
      s"""{"source":"iceberg-lite","version":2,"table-uuid":"$uuid","position":"after","snapshot-id":7,"commits":2}""")
  }

  private def foreign(snapshotId: Long, position: Long, scanAll: Boolean): StreamPosition = StreamOffset.parse(
    s"""{"version":1,"snapshot_id":$snapshotId,"position":$position,"scan_all_files":$scanAll}"""
  ).position

  test("an offset of Apache Iceberg is read") {
    assert(foreign(-1, -1, scanAll = false) == Empty)
    assert(foreign(7, 0, scanAll = false) == InCommit(7, 0))
    assert(foreign(7, 3, scanAll = false) == InApacheIcebergCommit(7, 3))
    assert(foreign(7, 3, scanAll = true) == InSnapshot(7, 3))
  }

  test("an offset of an unknown version is rejected with the place of the version") {
    for (json <- Seq("""{"source":"iceberg-lite","version":3}""", """{"version":2,"snapshot_id":1}""")) {
      val error = intercept[InvalidMetadata](StreamOffset.parse(json))
      assert(error.path == "$.version" && error.reason.contains("is not supported"))
    }
  }

  test("parsing a damaged offset succeeds or throws an IcebergError") {
    Fuzz.run("stream offset", 400) { random =>
      Fuzz.mutate(StreamOffset.toBytes(offsets(random.nextInt(offsets.size))), random)
    }(bytes => StreamOffset.parse(new String(bytes, "UTF-8")))
  }
}
