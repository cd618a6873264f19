package iceberglite.spec.json

import java.nio.ByteBuffer

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.JsonRules
import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{Content, ContentFile, FileFormat, MetricMaps}
import iceberglite.spec.partition.{Bucket, Identity, PartitionField, PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/** Tests the JSON forms of content files and scan tasks. */
class ScanTaskJsonSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val schema =
    Schema(0, Vector(NestedField.required(3, "id", IntType), NestedField.optional(4, "b", StringType)))
  private val spec =
    PartitionSpec(1, Vector(PartitionField(3, 1000, "id", Identity), PartitionField(4, 1001, "b_bucket", Bucket(4))))
  private val files = new ContentFileJson(Map(1 -> spec), schema)

  /** A file with the example values from the table in the specification. */
  private val example = """{"spec-id":1,"content":"EQUALITY_DELETES","file-path":"s3://b/wh/data.db/table",
    "file-format":"AVRO","partition":{"1000":1},"record-count":1,"file-size-in-bytes":1024,
    "column-sizes":{"keys":[3,4],"values":[100,200]},"value-counts":{"keys":[3,4],"values":[90,180]},
    "null-value-counts":{"keys":[3,4],"values":[10,20]},"nan-value-counts":{"keys":[3,4],"values":[0,0]},
    "lower-bounds":{"keys":[3,4],"values":["01000000","02000000"]},
    "upper-bounds":{"keys":[3,4],"values":["05000000","0A000000"]},
    "key-metadata":"00000000000000000000000000000000","split-offsets":[128,256],"equality-ids":[1],"sort-order-id":1}"""

  private def bytes(values: Int*): ByteBuffer = ByteBuffer.wrap(values.map(_.toByte).toArray)

  private def rejection(json: String): InvalidMetadata = intercept[InvalidMetadata](files.parse("f", json))

  test("the example of the section Content File (Data and Delete) Serialization is read", JsonRules.contentFiles) {
    val file = files.parse("f", example)
    assert(file == ContentFile(
      Content.EqualityDeletes,
      "s3://b/wh/data.db/table",
      FileFormat.Avro,
      1,
      PartitionTuple(Vector(Some(IntLiteral(1)), None)),
      1,
      1024,
      MetricMaps(
        Some(Map(3 -> 100L, 4 -> 200L)),
        Some(Map(3 -> 90L, 4 -> 180L)),
        Some(Map(3 -> 10L, 4 -> 20L)),
        Some(Map(3 -> 0L, 4 -> 0L)),
        Some(Map(3 -> bytes(1, 0, 0, 0), 4 -> bytes(2, 0, 0, 0))),
        Some(Map(3 -> bytes(5, 0, 0, 0), 4 -> bytes(10, 0, 0, 0)))
      ),
      Some(ByteBuffer.wrap(new Array[Byte](16))),
      Vector(128L, 256L),
      Vector(1),
      Some(1)
    ))
    val written = files.toJson(file)
    Seq("\"content\":\"EQUALITY_DELETES\"", "\"file-format\":\"AVRO\"", "\"partition\":{\"1000\":1}")
      .foreach(part => assert(written.contains(part)))
  }

  test(
    "every scan task with its files round-trips through JSON, apart from its residual",
    JsonRules.contentFiles,
    JsonRules.scanTasks
  ) {
    forAll(ChangeGenerators.task) { task =>
      // The residual is read without column types, so it cannot be compared.
      val read = ScanTaskJson.parse("t", ScanTaskJson.toJson(task))
      assert(read.copy(residual = AlwaysTrue) == task.copy(residual = AlwaysTrue))
    }
  }

  test("the fields of version 3, content in lower case and partitions as lists are read", JsonRules.contentFiles) {
    val dv = files.parse(
      "f",
      """{"spec-id":1,"content":"position-deletes","file-path":"p","file-format":"puffin","partition":[1,null],
        "record-count":1,"file-size-in-bytes":9,"referenced-data-file":"d","content-offset":4,
        "content-size-in-bytes":5}"""
    )
    assert(dv.content == Content.PositionDeletes && dv.format == FileFormat.Puffin)
    assert(dv.partition == PartitionTuple(Vector(Some(IntLiteral(1)), None)))
    assert((dv.referencedDataFile, dv.contentOffset, dv.contentSizeInBytes) == ((Some("d"), Some(4L), Some(5L))))
    val data = files.parse(
      "f",
      example.replace("EQUALITY_DELETES", "data").replace("\"equality-ids\":[1]", "\"first-row-id\":70")
    )
    assert(data.firstRowId.contains(70))
  }

  test("an unpartitioned delete file can be read without its partition spec", JsonRules.contentFiles) {
    val json = example.replace("\"spec-id\":1", "\"spec-id\":0")
    assert(files.parse("f", json.replace("{\"1000\":1}", "{}")).specId == 0)
    assert(files.parse("f", json.replace("{\"1000\":1}", "[]")).partition == PartitionTuple.Empty)
    assert(rejection(json).reason.contains("no partition spec 0"))
  }

  test("a scan task without start and length covers the whole file", JsonRules.scanTasks) {
    val fields = """"fields":[{"id":3,"name":"id","required":true,"type":"int"}]"""
    val task = ScanTaskJson.parse(
      "t",
      s"""{"schema":{"type":"struct","schema-id":0,$fields},"spec":{"spec-id":0,"fields":[]},"data-file":
        {"spec-id":0,"content":"DATA","file-path":"f","file-format":"ORC","record-count":1,"file-size-in-bytes":9}}"""
    )
    assert((task.start, task.length, task.deleteFiles, task.residual) == ((0L, 9L, Vector.empty, AlwaysTrue)))
    intercept[InvalidMetadata](ScanTaskJson.parse("t", """{"task-type":"data-task"}"""))
  }

  test("the record count of a data file may be unknown", JsonRules.contentFiles) {
    val uncounted = example.replace("EQUALITY_DELETES", "DATA").replace("\"record-count\":1", "\"record-count\":-1")
    assert(files.parse("f", uncounted).recordCount == ContentFile.UnknownRecords)
    assert(rejection(uncounted.replace("-1", "-2")).path == "$.record-count")
  }

  test("invalid content files are reported with their JSON path", JsonRules.strict) {
    Seq(
      ("\"EQUALITY_DELETES\"", "\"ROWS\"", "$.content"),
      ("\"AVRO\"", "\"CSV\"", "$.file-format"),
      ("\"record-count\":1", "\"record-count\":-1", "$.record-count"),
      ("{\"1000\":1}", "{\"1007\":1}", "$.partition.1007"),
      ("{\"1000\":1}", "[1]", "$.partition"),
      ("{\"1000\":1}", "{\"1000\":\"x\"}", "$.partition.1000"),
      ("[100,200]", "[100]", "$.column-sizes"),
      ("\"column-sizes\":{\"keys\":[3,4]", "\"column-sizes\":{\"keys\":[3,3]", "$.column-sizes"),
      ("\"0A000000\"", "\"0A00000\"", "$.upper-bounds.values[1]"),
      ("[128,256]", "[128,1.5]", "$.split-offsets[1]")
    ).foreach { case (from, to, path) =>
      assert(example.contains(from), from)
      assert(rejection(example.replace(from, to)).path == path)
    }
  }
}
