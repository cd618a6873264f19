package iceberglite.spec.json

import java.nio.charset.StandardCharsets.UTF_8

import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRoundsInSlowTier}
import iceberglite.conformance.JsonRules
import iceberglite.spec.{FormatVersion, IcebergError, SampleTables}
import iceberglite.spec.schema.NameMapping
import iceberglite.spec.table.Retention
import iceberglite.spec.update.MetadataUpdate

/** Tests that readers of damaged JSON return a value or throw an `IcebergError`, but throw no other error. */
@MoreRoundsInSlowTier
class TableMetadataFuzzSuite extends AnyFunSuite {

  private def samples[A](gen: Gen[A])(write: A => String): IndexedSeq[String] =
    (0L until 20L).map(i => write(gen.pureApply(Gen.Parameters.default, Seed(Fuzz.seed + i))))

  private val tables = samples(MetadataGenerators.table)(m => new String(TableMetadataJson.write(m), UTF_8))

  private def readable(json: Array[Byte]): Boolean =
    try {
      TableMetadataJson.read("f.json", json)
      true
    } catch { case _: IcebergError => false }

  /** Reads the metadata. If it can be read, accesses its lazily evaluated parts, which must not throw other errors. */
  private def use(json: Array[Byte]): Unit = {
    val m = TableMetadataJson.read("f.json", json)
    m.currentSnapshot.foreach(m.ancestors(_).size)
    Retention(0, 1, 1).expired(m, 0)
    TableMetadataJson.write(m)
    ()
  }

  test("truncated table metadata is rejected", JsonRules.hostile) {
    Fuzz.run("cut table metadata", 400) { random =>
      val json = tables(random.nextInt(tables.size))
      json.take(random.nextInt(json.length))
    }(json => assert(!readable(json.getBytes(UTF_8))))
  }

  test("table metadata with changed tokens throws no other error than IcebergError", JsonRules.hostile) {
    Fuzz.json("tokens of table metadata", 600, tables)(json => use(json.getBytes(UTF_8)))
  }

  test("table metadata with changed bytes throws no other error than IcebergError", JsonRules.hostile) {
    Fuzz.bytes("bytes of table metadata", 600, tables.map(_.getBytes(UTF_8)))(use)
  }

  test("damaged updates and requirements throw no other error than IcebergError", JsonRules.hostile) {
    // This update can be applied to the table, whereas random updates refer to columns and snapshots that the table
    // lacks.
    val valid = """{"action":"set-location","location":"s3://bucket/t"}"""
    val changes = valid +: samples(ChangeGenerators.update)(MetadataUpdateJson.toJson)
    Fuzz.json("changes", 600, changes) { json =>
      val update = MetadataUpdateJson.parse("request", json)
      MetadataUpdate.applyAll(SampleTables.empty(FormatVersion.V3), Seq(update), SampleTables.CreatedMs)
    }
    val ofViews = samples(ChangeGenerators.viewUpdate)(ViewUpdateJson.toJson)
    Fuzz.json("changes of views", 300, ofViews)(ViewUpdateJson.parse("request", _))
    val requirements = samples(ChangeGenerators.requirement)(RequirementJson.toJson)
    Fuzz.json("preconditions", 300, requirements)(RequirementJson.parse("request", _))
  }

  test("damaged expressions, files and tasks throw no other error than IcebergError", JsonRules.hostile) {
    val schema = ChangeGenerators.columns
    val conditions = samples(ChangeGenerators.condition)(ExpressionJson.toJson)
    Fuzz.json("conditions", 400, conditions)(ExpressionJson.parse("task", _))
    Fuzz.json("typed conditions", 400, conditions)(j => ExpressionJson.read(JsonValue.parse("task", j), schema))
    Fuzz.json("tasks", 300, samples(ChangeGenerators.task)(ScanTaskJson.toJson))(ScanTaskJson.parse("task", _))
  }

  test("damaged name mappings throw no other error than IcebergError", JsonRules.hostile) {
    val mappings = samples(MetadataGenerators.schema(0))(s => NameMappingJson.toJson(NameMapping.of(s)))
    Fuzz.json("name mappings", 300, mappings)(NameMappingJson.parse("property", _))
  }

  test("random bytes and deep nesting are rejected", JsonRules.hostile) {
    Fuzz.run("random bytes", 400) { random =>
      val bytes = new Array[Byte](random.nextInt(64))
      random.nextBytes(bytes)
      bytes
    }(bytes => assert(!readable(bytes)))
    Seq("[" * 100000, """{"schemas":""" * 100000).foreach(json => assert(!readable(json.getBytes(UTF_8))))
    val deep = """{"type":"not","child":""" * 5000 + "true" + "}" * 5000
    intercept[IcebergError](ExpressionJson.parse("task", deep))
  }

  test(
    "deeply nested types that the JSON parser accepts are rejected without a stack overflow",
    JsonRules.hostile
  ) {
    val list = """{"type":"list","element-id":1,"element-required":true,"element":"""
    Seq(390, 900).foreach { depth =>
      val json = list * depth + "\"int\"" + "}" * depth
      intercept[IcebergError](SchemaJson.parse(
        "f",
        s"""{"fields":[{"id":1,"name":"a","required":true,"type":$json}]}"""
      ))
    }
  }
}
