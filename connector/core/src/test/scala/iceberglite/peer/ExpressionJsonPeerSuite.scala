package iceberglite.peer

import org.apache.iceberg.SchemaParser
import org.apache.iceberg.expressions.{Binder, ExpressionParser}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.JsonRules
import iceberglite.spec.expr.{Bind, Expression}
import iceberglite.spec.json.{ChangeGenerators, ExpressionJson, JsonValue, SchemaJson}

/** Tests that iceberg-lite and Apache Iceberg read each other's JSON of expressions. */
class ExpressionJsonPeerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val schema = ChangeGenerators.columns
  private val peerSchema = SchemaParser.fromJson(SchemaJson.toJson(schema))

  private def bound(e: Expression): Expression = Bind(e, schema, caseSensitive = true)

  /**
   * Returns whether the expression means the same in both libraries. NaN and infinities are excluded, because Apache
   * Iceberg does not accept them as literals. Nanosecond timestamps are excluded, because Apache Iceberg treats them as
   * microseconds in unbound expressions.
   */
  private def isCommon(e: Expression): Boolean = {
    val json = ExpressionJson.toJson(e)
    !Seq("NaN", "Infinity", "\"c11\"", "\"c12\"").exists(json.contains(_))
  }

  test("an expression keeps its meaning if Apache Iceberg reads, binds and writes it", JsonRules.expressions) {
    forAll(ChangeGenerators.condition.suchThat(isCommon)) { e =>
      val boundByPeer =
        Binder.bind(peerSchema.asStruct, ExpressionParser.fromJson(ExpressionJson.toJson(e), peerSchema), true)
      val readBack = ExpressionJson.read(JsonValue.parse("peer", ExpressionParser.toJson(boundByPeer)), schema)
      assert(bound(readBack) == bound(e))
    }
  }

  test(
    "an expression written by Apache Iceberg does not change when both libraries read and write it without a schema",
    JsonRules.expressions
  ) {
    forAll(ChangeGenerators.condition.suchThat(isCommon)) { e =>
      val json = ExpressionJson.toJson(e)
      val byPeer = ExpressionParser.toJson(ExpressionParser.fromJson(json))
      val twice =
        ExpressionParser.toJson(ExpressionParser.fromJson(ExpressionJson.toJson(ExpressionJson.parse("peer", byPeer))))
      assert(ExpressionJson.parse("peer", twice) == ExpressionJson.parse("peer", byPeer))
    }
  }
}
