package iceberglite.spec.expr

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.spec.expr.Expression._
import iceberglite.spec.partition.{
  Bucket,
  Day,
  Hour,
  Identity,
  PartitionField,
  PartitionSpec,
  PartitionTuple,
  Transform,
  Truncate,
  UnknownTransform,
  Void,
  Year
}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{DateTime, Literal, NestedField}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

class ProjectSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import ExpressionGenerators._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 5000)

  private case class Case(schema: Schema, spec: PartitionSpec, filter: Expression, row: Row) {
    val partition: PartitionTuple = PartitionSpecs.tuple(spec, row)
  }

  private val cases: Gen[Case] = for {
    used <- Gen.pick(3, columns).map(_.toVector)
    spec <- PartitionSpecs.random(used)
    filter <- condition(used, Seq(Bucket(3), Truncate(7), Day, Year))
    row <- row(used)
  } yield Case(Schema(0, used), spec, filter, row)

  test("the inclusive projection is true for the partition of every matching row") {
    forAll(cases) { c =>
      val projected = Project.inclusive(c.filter, c.spec, c.schema)
      assert(!matches(c.filter, c.row) || Evaluate.tuple(projected, c.spec)(c.partition))
    }
  }

  test("the strict projection is false for the partition of every row that does not match") {
    forAll(cases) { c =>
      val projected = Project.strict(c.filter, c.spec, c.schema)
      assert(matches(c.filter, c.row) || !Evaluate.tuple(projected, c.spec)(c.partition))
    }
  }

  test("the residual for a partition matches the same rows as the original filter") {
    forAll(cases) { c =>
      val residual = new Residual(c.filter, c.spec, c.schema).of(c.partition)
      assert(matches(residual, c.row) == matches(c.filter, c.row))
    }
  }

  private val schema = Schema(
    0,
    Vector(
      NestedField.optional(1, "id", IntType),
      NestedField.optional(2, "ts", TimestampType),
      NestedField.optional(3, "place", StructType(Vector(NestedField.optional(4, "city", StringType))))
    )
  )

  private def bind(e: Expression): Expression = Bind(e, schema, caseSensitive = true)

  private def spec(fields: (Int, Transform)*): PartitionSpec = PartitionSpec(
    1,
    fields.zipWithIndex.map { case ((source, t), i) => PartitionField(source, 1000 + i, s"p$i", t) }.toVector
  )

  private def timestamp(text: String): Literal = TimestampLiteral(DateTime.parseTimestamp(text).get)

  test("a predicate on the source column of several partition fields is projected to all these fields") {
    val filter = bind(Equal(Term.Named("id"), IntLiteral(34)))
    val bucketAndTruncate = spec(1 -> Bucket(16), 1 -> Truncate(10))
    assert(Project.inclusive(filter, bucketAndTruncate, schema).toString == "(p0 = 3 AND p1 = 30)")
    assert(Project.strict(filter, bucketAndTruncate, schema) == AlwaysFalse)
    val other = bind(NotEqual(Term.Named("id"), IntLiteral(34)))
    assert(Project.strict(other, bucketAndTruncate, schema).toString == "(p0 <> 3 OR p1 <> 30)")
  }

  test("the terms of a projection are bound to the partition fields") {
    val filter = bind(Equal(Term.Named("place.city"), StringLiteral("Rome")))
    Project.inclusive(filter, spec(1 -> Void, 4 -> Identity), schema) match {
      case Equal(Term.Bound(field, name), value) =>
        assert(field == NestedField.optional(1001, "p1", StringType))
        assert(name == "p1" && value == StringLiteral("Rome"))
      case other => fail(other.toString)
    }
  }

  test("a predicate on a transform is projected only to the field with that transform") {
    val filter = bind(Equal(Term.Transformed(Day, Term.Named("ts")), DateLiteral(17486)))
    assert(Project.inclusive(filter, spec(2 -> Day), schema).toString == "p0 = DATE '2017-11-16'")
    assert(Project.strict(filter, spec(2 -> Day), schema).toString == "p0 = DATE '2017-11-16'")
    assert(Project.inclusive(filter, spec(2 -> Hour, 2 -> Identity), schema) == AlwaysTrue)
    assert(Project.strict(filter, spec(2 -> Hour, 2 -> Identity), schema) == AlwaysFalse)
  }

  test("a projection ignores partition fields with several sources or with a dropped source") {
    val several = PartitionSpec(
      1,
      Vector(
        PartitionField(Vector(1, 2), 1000, "p", UnknownTransform("zorder")),
        PartitionField(99, 1001, "gone", Identity)
      )
    )
    val filter = bind(Equal(Term.Named("id"), IntLiteral(1)))
    assert(Project.inclusive(filter, several, schema) == AlwaysTrue)
    assert(Project.strict(filter, several, schema) == AlwaysFalse)
  }

  test("a residual omits the predicates that are true for all rows or for no row of the partition") {
    val filter = bind(
      And(
        And(
          GreaterThanOrEqual(Term.Named("ts"), timestamp("2024-05-01T12:00:00")),
          LessThan(Term.Named("ts"), timestamp("2024-05-03T00:00:00"))
        ),
        Equal(Term.Named("id"), IntLiteral(5))
      )
    )
    val residual = new Residual(filter, spec(2 -> Day), schema)
    def residualFor(date: String) =
      residual.of(PartitionTuple(Vector(DateTime.parseDate(date).map(DateLiteral)))).toString
    assert(residualFor("2024-04-30") == "false")
    assert(residualFor("2024-05-01") == "(ts >= TIMESTAMP '2024-05-01T12:00:00' AND id = 5)")
    assert(residualFor("2024-05-02") == "id = 5")
    assert(residualFor("2024-05-03") == "false")
    assert(residual.of(PartitionTuple(Vector(None))) == AlwaysFalse)
  }

  test("the residual for an unpartitioned partition spec is the original filter") {
    val filter = bind(Equal(Term.Named("id"), IntLiteral(5)))
    assert(new Residual(filter, PartitionSpec.Unpartitioned, schema).of(PartitionTuple.Empty) == filter)
  }
}
