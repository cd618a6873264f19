package iceberglite.scan.stream

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{IntType, LongType, StringType, StructType}

/** Tests [[StreamColumns]], which compares the columns of a running stream with those of a newer table version. */
class StreamColumnsSuite extends AnyFunSuite {
  private val x = NestedField.required(3, "x", IntType)

  private val fields =
    Vector(NestedField.required(1, "id", IntType), NestedField.optional(2, "point", StructType(Vector(x))))

  /** Returns the message for a table whose columns were changed while a stream reads it. */
  private def message(changed: Vector[NestedField]): String =
    intercept[ValidationFailed](StreamColumns.check("lite.db.t", Schema(0, fields), Schema(1, changed))).message

  private def withPoint(pointFields: NestedField*): Vector[NestedField] =
    Vector(fields(0), NestedField.optional(2, "point", StructType(pointFields.toVector)))

  test("a stream continues if columns are renamed or reordered") {
    val renamed = Vector(withPoint(x.copy(name = "y"))(1), fields(0).copy(name = "key"))
    StreamColumns.check("lite.db.t", Schema(0, fields), Schema(1, renamed))
  }

  test(
    "a stream ends if a column or a field is added or dropped, and the message names only the outermost of them"
  ) {
    assert(message(fields :+ NestedField.optional(4, "n", StringType)).contains("column n was added. A running query"))
    assert(message(withPoint(x, NestedField.optional(4, "z", IntType))).contains("column point.z was added"))
    assert(message(fields.take(1)).contains(": column point was dropped. A running query"))
    val replaced = message(fields.take(1) :+ NestedField.optional(4, "point", StructType(Vector(x.copy(id = 5)))))
    assert(replaced.contains(": column point was added; column point was dropped. A running query"))
  }

  test("a stream ends if a column gets another type or becomes optional, which its rows cannot represent") {
    assert(message(Vector(fields(0).copy(fieldType = LongType), fields(1))).contains("id has the type long instead of"))
    val nullable = message(withPoint(NestedField.optional(3, "x", IntType)))
    assert(nullable.contains("column point.x may be null now") && nullable.contains("the same checkpoint location"))
  }

  test(
    "a stream with fixed columns omits added columns and fields, and keeps those that were dropped, unless required"
  ) {
    val note = NestedField.optional(4, "note", StringType)
    val added = NestedField.optional(5, "z", IntType)
    val fixed = Schema(0, fields :+ note)
    val changed = Schema(1, Vector(fields(0).copy(name = "key"), withPoint(x, added)(1), added.copy(id = 6)))
    val read = StreamColumns.ofFixed(fixed, changed)
    assert(read.fields == Vector(fields(0).copy(name = "key"), fields(1), note))
    StreamColumns.check("lite.db.t", fixed, read)
    val withoutId = StreamColumns.ofFixed(fixed, Schema(2, Vector(fields(1), note)))
    assert(
      intercept[ValidationFailed](StreamColumns.check("lite.db.t", fixed, withoutId)).message.contains("id was dropped")
    )
    val widened = StreamColumns.ofFixed(fixed, Schema(3, Vector(fields(0).copy(fieldType = LongType), fields(1))))
    assert(intercept[ValidationFailed](StreamColumns.check("lite.db.t", fixed, widened)).message.contains("type long"))
  }
}
