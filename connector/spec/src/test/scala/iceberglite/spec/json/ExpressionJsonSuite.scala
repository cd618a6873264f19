package iceberglite.spec.json

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.JsonRules
import iceberglite.spec.IcebergError.{InvalidArgument, InvalidMetadata}
import iceberglite.spec.expr.{Bind, Expression, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.partition.Day
import iceberglite.spec.types.Literal._

class ExpressionJsonSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val schema = ChangeGenerators.columns
  private val c2 = Term.Named("c2")

  private def read(json: String): Expression = ExpressionJson.parse("task", json)

  private def typed(json: String): Expression = ExpressionJson.read(JsonValue.parse("task", json), schema)

  private def assertRejected(json: String): Unit = {
    intercept[InvalidMetadata](read(json))
    intercept[InvalidMetadata](typed(json))
  }

  test("every expression round-trips through JSON when the column types are known", JsonRules.expressions) {
    forAll(ChangeGenerators.condition)(e => assert(typed(ExpressionJson.toJson(e)) == e))
  }

  test(
    "an expression that is read without column types binds to the same result as the original",
    JsonRules.expressions
  ) {
    forAll(ChangeGenerators.condition) { e =>
      val json = ExpressionJson.toJson(e)
      // Some literals cannot be read without their type: those that are compared with a transform, the bytes of c15 and
      // c16, and the floating-point numbers that JSON does not have or whose sign it may lose.
      val needType = Seq("transform", "\"c15\"", "\"c16\"", "NaN", "Infinity", "-0.0")
      if (!needType.exists(json.contains(_))) {
        assert(Bind(read(json), schema, caseSensitive = true) == Bind(e, schema, caseSensitive = true))
      }
    }
  }

  test("a decimal that is read without its type is bound by its value, in every notation", JsonRules.expressions) {
    def bound(text: String) =
      Bind(read(s"""{"type":"lt","term":"c6","value":"$text"}"""), schema, caseSensitive = true).toString
    assert(bound("1.50") == "c6 < 1.50" && bound("1.5") == "c6 < 1.50" && bound("1E+2") == "c6 < 100.00")
    Seq("x", "1e999999999", "1" * 100).foreach(text => intercept[InvalidArgument](bound(text)))
  }

  test("the specification's example of an expression is read", JsonRules.expressions) {
    assert(read("""{"type":"eq","term":"id","value":1}""") == Equal(Term.Named("id"), LongLiteral(1)))
  }

  test("all forms of constants, references, literals and transforms are read", JsonRules.expressions) {
    assert(Seq("true", """{"type":"true"}""", """{"type":"literal","value":true}""").map(read).toSet == Set(AlwaysTrue))
    assert(read("""{"type":"false"}""") == AlwaysFalse)
    val long = """{"type":"LT_EQ","term":{"type":"reference","term":"c2"},"value":{"type":"literal","value":3}}"""
    assert(typed(long) == LessThanOrEqual(c2, IntLiteral(3)))
    val day = """{"type":"is-null","term":{"type":"transform","transform":"day","term":"c7"}}"""
    assert(read(day) == IsNull(Term.Transformed(Day, Term.Named("c7"))))
    assert(read("""{"type":"in","term":"c2","values":[]}""") == In(c2, Set.empty))
    assert(read("""{"type":"not","child":{"type":"starts-with","term":"c","value":"x"}}""") ==
      Not(StartsWith(Term.Named("c"), "x")))
  }

  test("JSON that is not a valid expression is rejected", JsonRules.strict) {
    Seq(
      "1",
      "{}",
      """{"type":"fly","term":"c2"}""",
      """{"type":"eq","term":"c2"}""",
      """{"type":"eq","term":"c2","value":[1]}""",
      """{"type":"eq","term":"c2","value":1,"values":[1]}""",
      """{"type":"is-null","term":"c2","value":1}""",
      """{"type":"in","term":"c2","values":1}""",
      """{"type":"in","term":"c2","value":1,"values":[1]}""",
      """{"type":"eq","term":{"type":"fly","term":"c2"},"value":1}""",
      """{"type":"eq","term":{"type":"transform","transform":"bucket[0]","term":"c2"},"value":1}""",
      """{"type":"eq","term":"c2","value":{"type":"reference","value":1}}""",
      """{"type":"and","left":true}""",
      """{"type":"starts-with","term":"c13","value":1}"""
    ).foreach(assertRejected)
    Seq(
      """{"type":"eq","term":"nowhere","value":1}""",
      """{"type":"eq","term":"c2","value":"x"}""",
      """{"type":"eq","term":{"type":"transform","transform":"day","term":"c2"},"value":1}"""
    ).foreach(json => intercept[InvalidMetadata](typed(json)))
  }
}
