package iceberglite.spec.json

import java.nio.charset.StandardCharsets.UTF_8

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion.{V2, V4}
import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.SampleTables
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{Bucket, Day, TableExpression}
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate.SetProperties

class ExpressionsJsonSuite extends AnyFunSuite {
  private val File = "file:/warehouse/db/t/metadata/v1.metadata.json"
  private val table = SampleTables.withHistory(V4)

  private def read(json: String): TableMetadata = TableMetadataJson.read(File, json)

  private def text(m: TableMetadata): String = new String(TableMetadataJson.write(m), UTF_8)

  test("version 4 metadata has expressions with ids above all column ids, and last-column-id is the highest id") {
    assert(table.expressions == Vector(
      TableExpression(15, Vector(2), Day, "ts_day", Some(1000)),
      TableExpression(16, Vector(1), Bucket(16), "id_bucket", Some(1001))
    ))
    assert(table.lastColumnId == 16)
    val json = text(table)
    assert(json.contains("\"expressions\":[{\"expr-id\":15,\"expr\":{\"source-id\":2,\"transform\":\"day\"," +
      "\"name\":\"ts_day\"},\"partition-field-id\":1000},"))
    assert(
      json.contains("{\"expr-id\":15,\"source-id\":2,\"field-id\":1000,\"name\":\"ts_day\",\"transform\":\"day\"}")
    )
    assert(read(json) == table)
    assert(!text(SampleTables.withHistory(V2)).contains("expr"))
  }

  test("if a writer has dropped the expressions, they are read from their copy in the properties") {
    val dropped = text(table).replaceFirst("\"expressions\":\\[.*?\\],\"default-sort", "\"default-sort")
      .replaceAll("\"expr-id\":[0-9]+,\"source", "\"source")
    assert(!dropped.contains("\"expressions\"") && dropped.contains("iceberg-lite.v4.expressions"))
    assert(read(dropped) == table)
    assert(!table.properties.contains("iceberg-lite.v4.expressions"))
    val unpartitioned = SampleTables.empty(V4)
    val edited = MetadataUpdate.applyAll(
      unpartitioned,
      Seq(SetProperties(Map("iceberg-lite.v4.expressions" -> "no JSON"))),
      unpartitioned.lastUpdatedMs
    )
    assert(read(text(edited)).expressions.isEmpty)
  }

  test("a partition field that a writer without expressions has added gets an expression with a new id") {
    val dropped = text(table).replaceFirst("\"expressions\":\\[.*?\\],\"default-sort", "\"default-sort")
      .replaceAll("\"expr-id\":[0-9]+,\"source", "\"source")
    val field = "{\"source-id\":1,\"field-id\":1002,\"name\":\"id_bucket_4\",\"transform\":\"bucket[4]\"}"
    val specs = "\"partition-specs\":["
    val more = dropped.replace(specs, specs + "{\"spec-id\":9,\"fields\":[" + field + "]},")
    assert(more != dropped)
    assert(read(more).expressions ==
      table.expressions :+ TableExpression(17, Vector(1), Bucket(4), "id_bucket_4", Some(1002)))
    assert(read(more).lastColumnId == 17)
    // The expression of a field below the highest known id has been lost, and is not replaced.
    val below = more.replace("\"field-id\":1002", "\"field-id\":999")
    assert(read(below).expressions == table.expressions)
  }

  test("expressions that contradict their copy in the properties are rejected") {
    val json = text(table)
    def rejected(changed: String): InvalidMetadata = {
      val e = intercept[InvalidMetadata](read(changed))
      assert(changed != json && e.path == "$.expressions" && e.reason.contains("iceberg-lite.v4.expressions"))
      e
    }
    val otherId = rejected(json.replace("\"expr-id\":16", "\"expr-id\":17"))
    assert(otherId.reason.startsWith("The expression id_bucket (id 17) contradicts id_bucket (id 16)"))
    rejected(json.replace("\"transform\":\"bucket[16]\",\"name\"", "\"transform\":\"bucket[8]\",\"name\""))
    rejected(json.replace("},\"partition-field-id\":1001}", "},\"partition-field-id\":1002}"))
    val added = json.replace(
      "\"expressions\":[",
      "\"expressions\":[{\"expr-id\":20,\"expr\":{\"source-id\":1," +
        "\"transform\":\"bucket[4]\",\"name\":\"other\"}},"
    )
    assert(read(added).expressions.map(_.id) == Vector(20, 15, 16))
  }

  test("a partition field id inside an expression is read, and an expression may belong to no partition field") {
    val inside = text(table).replace(
      "\"name\":\"ts_day\"},\"partition-field-id\":1000}",
      "\"name\":\"ts_day\",\"partition-field-id\":1000}}"
    )
    assert(read(inside).expressions == table.expressions)
    val unused = text(table).replace("},\"partition-field-id\":1001}", "}}")
    assert(read(unused).expressions.map(_.partitionFieldId) == Vector(Some(1000), None))
  }

  test("expressions with the id of another expression or of a column are rejected") {
    val own = text(table).replace("iceberg-lite.v4.expressions", "other")
    val twice = intercept[InvalidMetadata](read(own.replace("\"expr-id\":16", "\"expr-id\":15")))
    assert(twice.reason == "Two expressions have the id 15" && twice.path == "$.expressions")
    val e = intercept[InvalidMetadata](read(own.replace("\"expr-id\":16", "\"expr-id\":4")))
    assert(e.reason.contains("id_bucket has the id 4, which a column of schema 0 also has"))
  }

  test("a partition field that has only the id of an expression is read with the values of the expression") {
    val bare = text(table).replaceAll("(\"expr-id\":[0-9]+),\"source-id\":[0-9]+,\"field-id\":[^}]*}", "$1}")
    assert(bare.contains("{\"expr-id\":15}") && bare.contains("{\"expr-id\":16}"))
    assert(read(bare) == table)
    val unknown = intercept[InvalidMetadata](read(bare.replace("{\"expr-id\":15}", "{\"expr-id\":99}")))
    assert(unknown.reason == "The table has no expression 99, but a partition field refers to it")
    val unused = bare.replace("},\"partition-field-id\":1001}", "}}")
    assert(intercept[InvalidMetadata](read(unused)).reason.contains("16 of a partition field has no id"))
  }
}
