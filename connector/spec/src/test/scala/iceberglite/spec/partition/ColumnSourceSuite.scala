package iceberglite.spec.partition

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.{ProjectionRules, TypeRules}
import iceberglite.spec.partition.ColumnSource.{Constant, Default, Null}
import iceberglite.spec.types.{DefaultValue, Literal, NestedField, PrimitiveType}
import iceberglite.spec.types.DefaultValue._
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._

class ColumnSourceSuite extends AnyFunSuite {

  /** Creates the values of a row as text. */
  private object Text extends ValueFactory[String] {
    override def nullValue: String = "null"
    override def primitive(value: Literal, t: PrimitiveType): String = value.productElement(0).toString
    override def struct(values: Vector[String], t: StructType): String = values.mkString("(", ",", ")")
    override def list(elements: Vector[String], t: ListType): String = elements.mkString("[", ",", "]")
    override def map(entries: Vector[(String, String)], t: MapType): String =
      entries.map { case (k, v) => s"$k:$v" }.mkString("{", ",", "}")
  }

  private def intDefault(n: Int): DefaultValue = OfPrimitive(IntLiteral(n))

  private def defaulted(field: NestedField, default: DefaultValue): NestedField =
    field.copy(initialDefault = Some(default))

  private def valueOf(field: NestedField, constants: (Int, String)*): Either[Vector[String], String] =
    ColumnSource.valueOf[String](field, f => constants.toMap.get(f.id), Text)

  private val plain = optional(1, "c", IntType)

  test(
    "a partition value takes precedence over the initial default, and the initial default takes precedence over null",
    ProjectionRules.missingOrder,
    ProjectionRules.partitionValueOnlyMissing
  ) {
    val field = defaulted(plain, intDefault(7))
    assert(ColumnSource.of(field, (_: NestedField) => Some("5")).contains(Constant("5")))
    assert(ColumnSource.of(field, (_: NestedField) => None).contains(Default(intDefault(7))))
    assert(ColumnSource.of(plain, (_: NestedField) => None).contains(Null))
    assert(valueOf(field, 1 -> "null") == Right("null"), "a null partition value is a value")
    assert(valueOf(field, 2 -> "5") == Right("7"))
  }

  test(
    "a required field without a partition value and without a default is reported",
    ProjectionRules.requiredMissing
  ) {
    val needed = required(1, "c", IntType)
    assert(valueOf(needed) == Left(Vector("c")))
    assert(valueOf(needed, 1 -> "5") == Right("5"))
    assert(valueOf(defaulted(needed, intDefault(7))) == Right("7"))
  }

  test("a write default does not apply to old rows", TypeRules.initialAndWrite) {
    assert(valueOf(plain.copy(writeDefault = Some(intDefault(7)))) == Right("null"))
  }

  private val inner =
    StructType(Vector(
      defaulted(required(3, "x", IntType), intDefault(1)),
      optional(4, "y", StringType),
      optional(5, "z", IntType)
    ))

  test(
    "a struct with the default {} has the defaults of its fields",
    ProjectionRules.structOfDefaults,
    TypeRules.structDefault
  ) {
    val struct = defaulted(optional(2, "s", inner), EmptyStruct)
    assert(valueOf(struct) == Right("(1,null,null)"))
    assert(valueOf(struct, 5 -> "9") == Right("(1,null,9)"))
    val nested = defaulted(optional(6, "o", StructType(Vector(struct, optional(7, "t", inner)))), EmptyStruct)
    assert(valueOf(nested) == Right("((1,null,null),null)"))
  }

  test("a struct without a default is null, even if its fields have defaults", ProjectionRules.structOfDefaults) {
    assert(valueOf(optional(2, "s", inner), 5 -> "9") == Right("null"))
    assert(valueOf(required(2, "s", inner)) == Left(Vector("s")))
  }

  test("the path of a required field inside a default is complete", ProjectionRules.requiredMissing) {
    val bare = StructType(Vector(required(3, "x", IntType)))
    val struct = defaulted(optional(2, "s", bare), EmptyStruct)
    assert(valueOf(struct) == Left(Vector("s", "x")))
    val list = ListType(9, bare, elementRequired = true)
    assert(valueOf(defaulted(optional(2, "l", list), OfList(Vector(Some(EmptyStruct))))) ==
      Left(Vector("l", "element", "x")))
  }

  test("defaults of lists and maps are expanded to lists and maps", TypeRules.nestedDefaults) {
    val list = optional(2, "l", ListType(9, inner, elementRequired = false))
    assert(valueOf(defaulted(list, OfList(Vector(Some(EmptyStruct), None)))) == Right("[(1,null,null),null]"))
    val map = optional(2, "m", MapType(8, StringType, 9, IntType, valueRequired = false))
    val (a, b) = (OfPrimitive(StringLiteral("a")), OfPrimitive(StringLiteral("b")))
    val entries = Vector(a -> Some(intDefault(1)), b -> None)
    assert(valueOf(defaulted(map, OfMap(entries))) == Right("{a:1,b:null}"))
  }
}
