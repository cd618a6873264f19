package iceberglite.peer

import org.apache.iceberg.SchemaParser
import org.apache.iceberg.expressions.{Binder, ExpressionParser}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.JsonRules
import iceberglite.spec.expr.{Bind, Expression}
import iceberglite.spec.json.{ChangeGenerators, ExpressionJson, JsonValue, SchemaJson}

/** Apache Iceberg reads the expressions that we write, and we read those that it writes. */
class ExpressionJsonPeerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val schema = ChangeGenerators.columns
  private val peerSchema = SchemaParser.fromJson(SchemaJson.toJson(schema))

  private def bound(e: Expression): Expression = Bind(e, schema, caseSensitive = true)

  /**
   * Excludes NaN and infinities, which are not literals for the peer, and nanosecond times, which it treats as
   * microseconds while unbound.
   */
  private def shared(e: Expression): Boolean = {
    val json = ExpressionJson.toJson(e)
    !Seq("NaN", "Infinity", "\"c11\"", "\"c12\"").exists(json.contains(_))
  }

  test("an expression that Apache Iceberg read and bound has the same meaning", JsonRules.expressions) {
    forAll(ChangeGenerators.condition.suchThat(shared)) { e =>
      val peers =
        Binder.bind(peerSchema.asStruct, ExpressionParser.fromJson(ExpressionJson.toJson(e), peerSchema), true)
      val again = ExpressionJson.read(JsonValue.parse("peer", ExpressionParser.toJson(peers)), schema)
      assert(bound(again) == bound(e))
    }
  }

  test(
    "an expression that Apache Iceberg read without types is written so that we read the same one",
    JsonRules.expressions
  ) {
    forAll(ChangeGenerators.condition.suchThat(shared)) { e =>
      val json = ExpressionJson.toJson(e)
      val peers = ExpressionParser.toJson(ExpressionParser.fromJson(json))
      val twice =
        ExpressionParser.toJson(ExpressionParser.fromJson(ExpressionJson.toJson(ExpressionJson.parse("peer", peers))))
      assert(ExpressionJson.parse("peer", twice) == ExpressionJson.parse("peer", peers))
    }
  }
}
