package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.TestMetadata._
import iceberglite.conformance.EvolutionRules
import iceberglite.spec.SampleTables
import iceberglite.spec.FormatVersion.V2
import iceberglite.spec.json.NameMappingJson
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.NameMapping
import iceberglite.spec.types.Type.{IntType, LongType}
import iceberglite.spec.update.{MetadataUpdate, SchemaChanges}
import iceberglite.table.action.UpdateSchema

/** Tests that a schema change also updates the table properties that refer to columns by name. */
class ColumnPropertiesSuite extends AnyFunSuite {
  private val table = SampleTables.empty(V2)
  private val mappingKey = TableProperty.NameMappingDefault.key

  private def updated(properties: Map[String, String])(edit: SchemaChanges => SchemaChanges): TableMetadata = {
    val base = table.edited(properties = properties)
    val context = CommitContext(new MemoryFileIO, "lite.db.t", "commit", Map.empty, Environment.system)
    MetadataUpdate.applyAll(base, new UpdateSchema(edit).changeFor(base, context).updates, base.lastUpdatedMs)
  }

  test("a schema change also updates the table's name mapping in the same commit", EvolutionRules.mappingFollows) {
    val json = NameMappingJson.toJson(NameMapping.of(table.schema))
    val changed = updated(Map(mappingKey -> json)) {
      _.renameColumn(Vector("id"), "key").addColumn(Vector("location"), "alt", IntType)
    }
    val mapping = NameMappingJson.parse("t", changed.properties(mappingKey))
    assert(Seq("id", "key").flatMap(mapping.find).flatMap(_.id) == Seq(1, 1))
    assert(mapping.find("location").flatMap(_.find("alt")).flatMap(_.id).contains(table.lastColumnId + 1))
    assert(updated(Map(mappingKey -> json))(_.updateType(Vector("id"), LongType)).properties == Map(mappingKey -> json))
    assert(updated(Map.empty)(_.renameColumn(Vector("id"), "key")).properties.isEmpty)
  }

  test("a schema change keeps an invalid name mapping unchanged", EvolutionRules.mappingFollows) {
    Seq("", "{", "[{\"field-id\": 1}]").foreach { broken =>
      val changed = updated(Map(mappingKey -> broken))(_.renameColumn(Vector("id"), "key"))
      assert(changed.properties == Map(mappingKey -> broken) && changed.schema.find("key").isDefined)
    }
  }

  test(
    "properties of a column get its new name when it is renamed, and are removed when it is dropped",
    EvolutionRules.propertiesFollow
  ) {
    def metrics(column: String) = s"write.metadata.metrics.column.$column"
    def bloom(column: String) = s"write.parquet.bloom-filter-enabled.column.$column"
    val properties = Map(
      metrics("id") -> "full",
      bloom("id") -> "true",
      metrics("location.lat") -> "none",
      metrics("amount") -> "counts",
      metrics("nowhere") -> "full",
      "owner" -> "me"
    )
    val changed = updated(properties) {
      _.renameColumn(Vector("id"), "key").renameColumn(Vector("location"), "place").dropColumn(Vector("amount"))
    }
    assert(changed.properties == Map(
      metrics("key") -> "full",
      bloom("key") -> "true",
      metrics("place.lat") -> "none",
      metrics("nowhere") -> "full",
      "owner" -> "me"
    ))
  }

  test("columns that swap names also swap their properties", EvolutionRules.propertiesFollow) {
    def metrics(column: String) = s"write.metadata.metrics.column.$column"
    val changed = updated(Map(metrics("id") -> "full", metrics("ts") -> "none")) {
      _.renameColumn(Vector("id"), "x").renameColumn(Vector("ts"), "id").renameColumn(Vector("x"), "ts")
    }
    assert(changed.properties == Map(metrics("ts") -> "full", metrics("id") -> "none"))
  }

  test(
    "the columns of the Bloom index follow renames, and dropped columns are removed",
    EvolutionRules.propertiesFollow
  ) {
    val key = "iceberg-lite.bloom-index.columns"
    def columns(before: String)(edit: SchemaChanges => SchemaChanges): Option[String] =
      updated(Map(key -> before))(edit).properties.get(key)
    assert(columns("id, amount,nowhere")(_.renameColumn(Vector("id"), "key")).contains("key,amount,nowhere"))
    assert(columns("id,amount")(_.renameColumn(Vector("location"), "place")).contains("id,amount"))
    assert(columns("id,amount")(_.dropColumn(Vector("amount"))).contains("id"))
    assert(columns("amount")(_.dropColumn(Vector("amount"))).isEmpty)
    assert(columns("id,amount")(_.renameColumn(Vector("id"), "a,b")).contains("amount"))
  }
}
