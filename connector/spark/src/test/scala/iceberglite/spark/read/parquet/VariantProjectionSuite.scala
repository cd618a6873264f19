package iceberglite.spark.read.parquet

import scala.collection.JavaConverters._

import org.apache.parquet.schema.{GroupType, MessageType, MessageTypeParser}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.SparkRules
import iceberglite.data.VariantPath

/** Tests which columns of a file are read for parts of variants. */
class VariantProjectionSuite extends AnyFunSuite {

  private val group: GroupType = MessageTypeParser.parseMessageType("""message m { optional group v = 2 {
    required binary metadata; optional binary value; optional group typed_value {
      required group i { optional binary value; optional int32 typed_value; }
      required group x { optional binary value; optional group typed_value {
        required group t { optional binary value; optional int64 typed_value; }
        required group u { optional binary value; optional binary typed_value (STRING); } } }
      required group l { optional binary value; optional group typed_value (LIST) { repeated group list {
        required group element { optional binary value; optional int32 typed_value; } } } }
      required group only { optional binary value; } } } }""").getFields.get(0).asGroupType

  /** The columns that are read for some paths. @param empty the columns that have no values */
  private def columns(paths: String*)(empty: String*): Set[String] = {
    val projection = new VariantProjection(names => empty.contains(names.tail.mkString(".")))
    val read = projection.of(group, Vector("v"), paths.map(VariantPath.parse).toSet)
    new MessageType("m", read).getColumns.asScala.map(_.getPath.tail.mkString(".")).toSet
  }

  private val x = "typed_value.x"
  private val inX = Set("t", "u").flatMap(f => Set(s"$x.typed_value.$f.value", s"$x.typed_value.$f.typed_value"))

  test("only the columns of the paths are read", SparkRules.variantPartsRead) {
    val i = Set("metadata", "typed_value.i.value", "typed_value.i.typed_value")
    assert(columns("$.i")() == i)
    assert(columns("$.i")("typed_value.i.value") == Set("typed_value.i.typed_value"))
    assert(columns("$.x.t")() == Set("metadata", s"$x.typed_value.t.value", s"$x.typed_value.t.typed_value"))
    assert(columns("$.x.t", "$.i")(s"$x.typed_value.t.value") == i + s"$x.typed_value.t.typed_value")
    assert(columns("$.x")() == inX ++ Set("metadata", s"$x.value"))
    assert(columns("$.x", "$.x.t")(s"$x.value") == inX + "metadata")
  }

  test("encoded values are read where a path is not in typed columns", SparkRules.variantPartsRead) {
    assert(columns("$.other")() == Set("metadata", "value"))
    assert(columns("$.other", "$.i")() ==
      Set("metadata", "value", "typed_value.i.value", "typed_value.i.typed_value"))
    assert(columns("$.other", "$.i")("value", "typed_value.i.value") == Set("typed_value.i.typed_value"))
    assert(columns("$.other")("value") == Set("metadata", "value"))
    assert(columns("$.x.other")() == Set("metadata", s"$x.value"))
    assert(columns("$.i.part")() == Set("metadata", "typed_value.i.value"))
    assert(columns("$.only")() == Set("metadata", "typed_value.only.value"))
    assert(columns("$.only.part")("typed_value.only.value") == Set("metadata", "typed_value.only.value"))
    val element = "typed_value.l.typed_value.list.element"
    assert(columns("$.l[0]")() ==
      Set("metadata", "typed_value.l.value", s"$element.value", s"$element.typed_value"))
    assert(columns("$.l.part")() == Set("metadata", "typed_value.l.value"))
    assert(columns("$[0]")().size == new MessageType("m", group).getColumns.size)
    assert(columns("$")().size == new MessageType("m", group).getColumns.size)
  }
}
