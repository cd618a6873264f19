package iceberglite.peer

import org.apache.iceberg.SchemaParser
import org.apache.iceberg.expressions.{Binder, ExpressionParser}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.JsonRules
import iceberglite.spec.expr.{Bind, Expression}
import iceberglite.spec.json.{ChangeGenerators, ExpressionJson, JsonValue, SchemaJson}

/** Apache Iceberg reads the conditions that we write, and we those that it writes. */
class ExpressionJsonPeerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val schema = ChangeGenerators.columns
  private val peerSchema = SchemaParser.fromJson(SchemaJson.toJson(schema))

  private def bound(e: Expression): Expression = Bind(e, schema, caseSensitive = true)

  /** To the peer NaN and the infinities are no literals, and a time in nanoseconds is one in microseconds to it while it is not bound. */
  private def shared(e: Expression): Boolean = {
    val json = ExpressionJson.toJson(e)
    !Seq("NaN", "Infinity", "\"c11\"", "\"c12\"").exists(json.contains(_))
  }

  test("a condition that Apache Iceberg has read and bound means the same", JsonRules.expressions) {
    forAll(ChangeGenerators.condition.suchThat(shared)) { e =>
      val peers =
        Binder.bind(peerSchema.asStruct, ExpressionParser.fromJson(ExpressionJson.toJson(e), peerSchema), true)
      val again = ExpressionJson.read(JsonValue.parse("peer", ExpressionParser.toJson(peers)), schema)
      assert(bound(again) == bound(e))
    }
  }

  test("a condition that Apache Iceberg has read without types is written by it as we read it", JsonRules.expressions) {
    forAll(ChangeGenerators.condition.suchThat(shared)) { e =>
      val json = ExpressionJson.toJson(e)
      val peers = ExpressionParser.toJson(ExpressionParser.fromJson(json))
      val twice =
        ExpressionParser.toJson(ExpressionParser.fromJson(ExpressionJson.toJson(ExpressionJson.parse("peer", peers))))
      assert(ExpressionJson.parse("peer", twice) == ExpressionJson.parse("peer", peers))
    }
  }
}
