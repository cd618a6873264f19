package iceberglite.spec.property

import org.scalatest.funsuite.AnyFunSuite

class DeleteFilePropertiesSuite extends AnyFunSuite {

  test("delete files use their own settings or, if absent, the settings of data files except per-column settings") {
    val properties = Map(
      "write.parquet.compression-codec" -> "zstd",
      "write.delete.parquet.compression-codec" -> "snappy",
      "write.parquet.page-size-bytes" -> "1000",
      "write.delete.parquet.row-group-size-bytes" -> "2000",
      "write.delete.avro.compression-codec" -> "gzip",
      "write.delete.orc.stripe-size-bytes" -> "3000",
      "write.delete.mode" -> "merge-on-read",
      "write.parquet.stats-enabled.column.pos" -> "false"
    )
    val ofDeletes = DeleteFileProperties.of(properties)
    assert(ofDeletes("write.parquet.compression-codec") == "snappy")
    assert(ofDeletes("write.parquet.page-size-bytes") == "1000")
    assert(ofDeletes("write.parquet.row-group-size-bytes") == "2000")
    assert(ofDeletes("write.avro.compression-codec") == "gzip" && ofDeletes("write.orc.stripe-size-bytes") == "3000")
    assert(ofDeletes("write.delete.mode") == "merge-on-read")
    assert(!ofDeletes.contains("write.parquet.stats-enabled.column.pos"))
  }

  test("every property of the files of a format can be set for delete files, and other properties cannot") {
    val prefixes = Seq("parquet", "orc", "avro").map(format => s"write.$format.")
    val keys = TableProperty.all.map(_.key).filter(key => prefixes.exists(key.startsWith)).toVector
    assert(keys.size > 12)
    for (key <- keys) withClue(s"$key: ") {
      val ofDeletes = "write.delete." + key.stripPrefix("write.")
      assert(DeleteFileProperties.keyOfDataFiles(ofDeletes).contains(key))
      assert(DeleteFileProperties.of(Map(key -> "1", ofDeletes -> "2")).get(key).contains("2"))
      assert(DeleteFileProperties.of(Map(key -> "1")).get(key).contains("1"))
    }
    for (key <- Seq("write.delete.mode", "write.delete.wap.enabled", "write.delete.metadata.path", keys.head))
      assert(DeleteFileProperties.keyOfDataFiles(key).isEmpty, key)
  }
}
