package iceberglite.spec.schema

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.table.NewTable
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type._
import iceberglite.spec.update.{MetadataUpdate, SchemaChanges}

/** Tests that declared types (char, varchar) are stored by field id, and are kept when field ids change. */
class DeclaredTypeSuite extends AnyFunSuite {
  private val list = ListType(9, StringType, elementRequired = false)

  private def described(text: String, declared: (Int, String)*): NewTable = NewTable(
    Schema(0, Vector(NestedField.optional(7, text, StringType), NestedField.optional(8, "l", list))),
    Vector.empty,
    Vector.empty,
    "file:/t",
    declared.map { case (id, t) => DeclaredType.key(id) -> t }.toMap
  )

  private def declared(properties: Map[String, String]): Map[String, String] =
    properties.filterKeys(DeclaredType.isKey).map(identity)

  test("declared types refer to the new field ids of a new table, including fields inside lists") {
    val table = described("c", 7 -> "char(3)", 9 -> "varchar(5)").metadata(new UUID(0, 1), 0L)
    assert(declared(table.properties) ==
      Map("schema.declared-type.1" -> "char(3)", "schema.declared-type.3" -> "varchar(5)"))
  }

  test("a replaced table sets the declared types of its own columns and keeps those of earlier columns") {
    val table = described("c", 7 -> "char(3)", 9 -> "varchar(5)").metadata(new UUID(0, 1), 0L)
    val updates = described("d", 7 -> "char(4)").replacement(table)
    val replaced = MetadataUpdate.applyAll(table, updates, 1L)
    assert(replaced.schema.ids == Map("d" -> 4, "l" -> 2, "l.element" -> 3))
    assert(declared(replaced.properties) ==
      Map("schema.declared-type.1" -> "char(3)", "schema.declared-type.4" -> "char(4)"))
  }

  test("schema changes set and remove declared types, and the last change to a column takes effect") {
    val table = described("c", 7 -> "char(3)").metadata(new UUID(0, 1), 0L)
    val update =
      SchemaChanges(table).declareType(Vector("c"), None).declareType(Vector("l", "element"), Some("char(1)"))
    assert(update.declaredTypes == ((Map("schema.declared-type.3" -> "char(1)"), Set("schema.declared-type.1"))))
    assert(update.declareType(Vector("c"), Some("char(9)")).declaredTypes._2.isEmpty)
    assert(update.dropColumn(Vector("l")).declaredTypes._1.isEmpty)
  }
}
