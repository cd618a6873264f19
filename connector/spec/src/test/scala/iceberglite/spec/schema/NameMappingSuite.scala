package iceberglite.spec.schema

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.{EvolutionRules, ProjectionRules}
import iceberglite.spec.SampleTables
import iceberglite.spec.FormatVersion.V2
import iceberglite.spec.json.NameMappingJson
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type._
import iceberglite.spec.update.SchemaChanges

class NameMappingSuite extends AnyFunSuite {
  private val table = SampleTables.empty(V2)
  private val start = SchemaChanges(table)
  private val mapping = NameMapping.of(table.schema)

  private def path(parts: String*): Vector[String] = parts.toVector

  private def after(change: SchemaChanges => SchemaChanges, from: NameMapping = mapping): NameMapping =
    from.evolve(table.schema, change(start).schema)

  private def entry(m: NameMapping, names: String*): Option[MappedField] =
    names.tail.foldLeft(m.find(names.head))((found, name) => found.flatMap(_.find(name)))

  test("a name mapping made from a schema has the names of every level", ProjectionRules.mappingNesting) {
    assert(entry(mapping, "points", "element", "x").flatMap(_.id).contains(11))
    assert(entry(mapping, "tags", "key").flatMap(_.id).contains(13))
    assert(entry(mapping, "tags", "value").flatMap(_.id).contains(14))
    assert(entry(mapping, "location", "lat").flatMap(_.id).contains(8))
  }

  test("the example of the section Name Mapping Serialization is read", ProjectionRules.mappingAliases) {
    val m = NameMappingJson.parse(
      "f",
      """[ { "field-id": 1, "names": ["id", "record_id"] },
        |   { "field-id": 2, "names": ["data"] },
        |   { "field-id": 3, "names": ["location"], "fields": [
        |       { "field-id": 4, "names": ["latitude", "lat"] },
        |       { "field-id": 5, "names": ["longitude", "long"] }
        |     ] } ]""".stripMargin
    )
    assert(Seq("id", "record_id").flatMap(m.find).flatMap(_.id) == Seq(1, 1))
    assert(entry(m, "location", "long").flatMap(_.id).contains(5))
    assert(m.find("long").isEmpty)
  }

  test(
    "a name with dots is a single name, and a mapped field may have no id or no names",
    ProjectionRules.mappingLiteralNames,
    ProjectionRules.mappingWithoutId
  ) {
    val m = NameMapping(Vector(
      MappedField(Vector("a.b"), Some(1), Vector.empty),
      MappedField(Vector("only.in.files"), None, Vector.empty),
      MappedField(Vector.empty, Some(2), Vector.empty)
    ))
    assert(NameMappingJson.parse("f", NameMappingJson.toJson(m)) == m)
    assert(m.find("a.b").flatMap(_.id).contains(1) && m.find("a").isEmpty)
    assert(m.find("only.in.files").exists(_.id.isEmpty))
  }

  test("a renamed column is mapped from its old and its new name", EvolutionRules.mappingFollows) {
    val m = after(_.renameColumn(path("location", "lat"), "latitude").renameColumn(path("id"), "key"))
    assert(entry(m, "location", "lat") == entry(m, "location", "latitude"))
    assert(m.find("key").flatMap(_.id).contains(1) && m.find("id") == m.find("key"))
  }

  test("an added column is in the mapping, with its nested fields", EvolutionRules.mappingFollows) {
    val list = ListType(0, StructType(Vector(NestedField.optional(0, "v", IntType))), elementRequired = false)
    val m = after(_.addColumn(path(), "l", list).addColumn(path("points"), "z", IntType))
    assert(entry(m, "l", "element", "v").flatMap(_.id).contains(table.lastColumnId + 3))
    assert(entry(m, "points", "element", "z").flatMap(_.id).contains(table.lastColumnId + 4))
  }

  test("a dropped column keeps its name in the mapping until another column takes it", EvolutionRules.mappingFollows) {
    val id = table.schema.require("amount").id
    assert(after(_.dropColumn(path("amount"))) == mapping)
    val m = after(_.dropColumn(path("amount")).addColumn(path(), "amount", StringType))
    assert(m.find("amount").flatMap(_.id).contains(table.lastColumnId + 1))
    assert(m.fields.exists(f => f.id.contains(id) && f.names.isEmpty))
  }

  test(
    "if two columns swap their names, each name is mapped to the column that now has it",
    EvolutionRules.mappingFollows
  ) {
    val swapped = after(
      _.renameColumn(path("location", "lat"), "t").renameColumn(path("location", "lon"), "lat")
        .renameColumn(path("location", "t"), "lon")
    )
    assert(entry(swapped, "location", "lon").flatMap(_.id).contains(8))
    assert(entry(swapped, "location", "lat").flatMap(_.id).contains(9))
  }

  test(
    "changes to columns that the mapping lacks do not add them, but a new column takes over a mapped name",
    EvolutionRules.mappingFollows
  ) {
    val small = NameMapping(Vector(MappedField(Vector("theirs"), None, Vector.empty)))
    val m = after(_.renameColumn(path("id"), "key").addColumn(path("location"), "alt", FloatType), small)
    assert(m == small)
    assert(after(_.addColumn(path(), "theirs", IntType), small).fields.map(f => f.names -> f.id) ==
      Vector(Vector.empty -> None, Vector("theirs") -> Some(table.lastColumnId + 1)))
  }
}
