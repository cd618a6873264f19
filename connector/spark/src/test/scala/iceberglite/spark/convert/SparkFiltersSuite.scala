package iceberglite.spark.convert

import org.apache.spark.sql.connector.expressions.filter.{
  AlwaysFalse => SparkFalse,
  AlwaysTrue => SparkTrue,
  And,
  Not,
  Or,
  Predicate
}
import org.apache.spark.sql.connector.expressions.{
  Expression,
  Literal => SparkLiteral,
  NamedReference,
  UserDefinedScalarFunc
}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.spec.expr.{Bind, Evaluate}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, PrimitiveType}
import iceberglite.spec.types.NestedField.optional
import iceberglite.spec.types.Type.{
  BinaryType => Bytes,
  DateType => Day,
  DoubleType => Number,
  FixedType,
  IntType,
  ListType,
  LongType => Long64,
  StringType => Text,
  StructType => Struct,
  TimeType,
  TimestampTzType,
  UuidType
}

/** A substitute for Spark's private class of this name. */
final private case class FieldReference(parts: Seq[String]) extends NamedReference {
  override def fieldNames: Array[String] = parts.toArray
}

final private case class LiteralValue[A](override val value: A, override val dataType: DataType)
    extends SparkLiteral[A] {
  override def children: Array[Expression] = Array.empty
}

class SparkFiltersSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val schema = Schema(
    0,
    Vector(
      optional(1, "i", IntType),
      optional(2, "d", Number),
      optional(3, "s", Text),
      optional(4, "a", Struct(Vector(optional(5, "b", Long64)))),
      optional(6, "a.b", IntType),
      optional(7, "l", ListType(8, IntType, elementRequired = false)),
      optional(9, "ts", TimestampTzType),
      optional(10, "t", TimeType),
      optional(11, "u", UuidType),
      optional(12, "f", FixedType(2)),
      optional(13, "raw", Bytes),
      optional(14, "day", Day)
    )
  )
  private val filters = new SparkFilters(schema, caseSensitive = true)

  private def column(parts: String*): Expression = FieldReference(parts)
  private def int(v: Int): Expression = LiteralValue(v, IntegerType)
  private def text(v: String): Expression = LiteralValue(UTF8String.fromString(v), StringType)
  private def nullLiteral(t: DataType): Expression = LiteralValue(null, t)
  private def predicate(name: String, children: Expression*): Predicate = new Predicate(name, children.toArray)
  private def asText(p: Predicate): Option[String] = filters.exact(p).map(_.toString)

  test("comparisons, null tests, IN lists and prefixes are converted; the column can be on either side") {
    assert(asText(predicate("<", column("i"), int(5))).contains("i < 5"))
    assert(asText(predicate("<", int(5), column("i"))).contains("i > 5"))
    assert(asText(predicate("<=>", column("i"), nullLiteral(IntegerType))).contains("i IS NULL"))
    assert(asText(predicate("IN", column("i"), int(2), int(1))).contains("i IN (1, 2)"))
    assert(asText(predicate("STARTS_WITH", column("s"), text("a"))).contains("s LIKE 'a%'"))
    assert(asText(predicate("IS_NOT_NULL", column("i"))).contains("i IS NOT NULL"))
  }

  test("a column with a dot in its name is not the field of a struct") {
    assert(filters.exact(predicate("=", column("a.b"), int(1))).map(_.toString).contains("a.b = 1"))
    def id(p: Predicate): Option[Int] = filters.exact(p).flatMap {
      case e: iceberglite.spec.expr.Predicate => e.term match {
          case iceberglite.spec.expr.Term.Bound(f, _) => Some(f.id)
          case _ => None
        }
      case _ => None
    }
    assert(id(predicate("=", column("a.b"), int(1))).contains(6))
    assert(id(predicate("=", column("a", "b"), LiteralValue(1L, LongType))).contains(5))
  }

  test("column names are case-sensitive or case-insensitive, as the session is configured") {
    val filter = predicate("=", column("I"), int(1))
    assert(filters.exact(filter).isEmpty)
    assert(new SparkFilters(schema, caseSensitive = false).exact(filter).isDefined)
  }

  test("values are converted to the column's type; a filter with a value that the type lacks is not converted") {
    assert(asText(predicate("=", column("ts"), LiteralValue(0L, TimestampType))).exists(_.contains("1970-01-01")))
    assert(asText(predicate("=", column("t"), LiteralValue(3600000000L, LongType))).exists(_.contains("01:00:00")))
    val uuid = "f79c3e09-677c-4bbd-a479-3f349cb785e7"
    assert(asText(predicate("=", column("u"), text(uuid))).exists(_.contains(uuid)))
    assert(asText(predicate("=", column("u"), text(uuid.toUpperCase))).isEmpty)
    assert(asText(predicate("=", column("f"), LiteralValue(Array[Byte](1, 2), BinaryType))).isDefined)
    assert(asText(predicate("=", column("f"), LiteralValue(Array[Byte](1), BinaryType))).isEmpty)
  }

  test("calls of the SQL functions for partition transforms become terms with a transform") {
    val days = new UserDefinedScalarFunc("days", "iceberg.days(timestamp)", Array(column("ts")))
    assert(asText(predicate("=", days, LiteralValue(1, DateType))).contains("day(ts) = DATE '1970-01-02'"))
    val bucket = new UserDefinedScalarFunc("bucket", "iceberg.bucket(int)", Array(int(16), column("i")))
    assert(asText(predicate("=", bucket, int(3))).contains("bucket[16](i) = 3"))
    val unknownFunction = new UserDefinedScalarFunc("soundex", "x.soundex", Array(column("s")))
    assert(asText(predicate("=", unknownFunction, text("a"))).isEmpty)
  }

  test("conditions that an Iceberg expression cannot represent are not converted") {
    assert(asText(predicate("CONTAINS", column("s"), text("a"))).isEmpty)
    assert(asText(predicate("=", column("i"), column("d"))).isEmpty)
    assert(asText(predicate("IS_NULL", column("l"))).isEmpty)
    assert(asText(predicate("IS_NULL", column("a"))).isEmpty)
    assert(asText(predicate("=", column("missing"), int(1))).isEmpty)
    assert(asText(predicate("=", column("l", "element"), int(1))).isEmpty)
  }

  test("if only one condition of a conjunction can be converted, the conversion is not exact") {
    val conjunction = new And(predicate("=", column("i"), int(1)), predicate("CONTAINS", column("s"), text("a")))
    assert(filters.convert(conjunction).exists(c => !c.exact && c.expression.toString == "i = 1"))
    assert(filters.exact(conjunction).isEmpty)
    assert(filters.convert(new Not(conjunction)).isEmpty)
    val nested = new Or(conjunction, predicate("=", column("i"), int(2)))
    assert(filters.convert(nested).exists(c => !c.exact && c.expression.toString == "(i = 1 OR i = 2)"))
  }

  private val doubles = Gen.oneOf(-1.0, -0.0, 0.0, 1.0, Double.NaN)

  private def value(name: String): Gen[Any] = name match {
    case "i" => Gen.choose(-2, 2)
    case "d" => doubles
    case _ => Gen.oneOf("", "a", "ab", "b").map(UTF8String.fromString)
  }

  private val sparkTypes = Map("i" -> IntegerType, "d" -> DoubleType, "s" -> StringType)

  private def literal(name: String): Gen[LiteralValue[Any]] =
    Gen.frequency(1 -> Gen.const(null: Any), 8 -> value(name)).map(LiteralValue[Any](_, sparkTypes(name)))

  private val leaf: Gen[Predicate] = for {
    name <- Gen.oneOf("i", "d", "s")
    operator <- Gen.oneOf("=", "<>", "<=>", "<", "<=", ">", ">=")
    v <- literal(name)
    vs <- Gen.listOf(literal(name))
    prefix <- literal("s")
    generated <- Gen.oneOf(
      predicate(operator, column(name), v),
      predicate(operator, v, column(name)),
      predicate("IN", column(name) +: v +: vs: _*),
      predicate("IS_NULL", column(name)),
      predicate("IS_NOT_NULL", column(name)),
      predicate("STARTS_WITH", column("s"), prefix),
      new SparkTrue,
      new SparkFalse
    )
  } yield generated

  private def tree(depth: Int): Gen[Predicate] =
    if (depth == 0) leaf
    else
      Gen.oneOf(
        leaf,
        tree(depth - 1).map(new Not(_)),
        for (l <- tree(depth - 1); r <- tree(depth - 1)) yield new And(l, r),
        for (l <- tree(depth - 1); r <- tree(depth - 1)) yield new Or(l, r)
      )

  private type Values = Map[String, Any]

  private val row: Gen[Values] = for {
    i <- Gen.option(value("i"))
    d <- Gen.option(value("d"))
    s <- Gen.option(value("s"))
  } yield Seq("i" -> i, "d" -> d, "s" -> s).collect { case (name, Some(v)) => name -> v }.toMap

  test("an expression is true for exactly the rows for which Spark's filter is true") {
    forAll(tree(3), Gen.listOfN(20, row)) { (filter, rows) =>
      val bound = Bind(filters.exact(filter).get, schema, caseSensitive = true)
      val matches = Evaluate.rows[Values](bound, id => r => literalOf(id, r))
      rows.foreach { r =>
        assert(matches(r) == new ThreeValued(r).evaluate(filter).contains(true), s"$filter as $bound on $r")
      }
    }
  }

  private def literalOf(id: Int, row: Values): Option[Literal] = {
    val field = schema.byId(id)
    row.get(field.name).flatMap(SparkValues.fromSpark(_, field.fieldType.asInstanceOf[PrimitiveType]))
  }

  /** Evaluates the filter for the row with Spark's three-valued logic. `None` stands for null. */
  private class ThreeValued(row: Values) {
    def evaluate(e: Expression): Option[Boolean] = e match {
      case _: SparkTrue => Some(true)
      case _: SparkFalse => Some(false)
      case n: Not => evaluate(n.child).map(!_)
      case a: And => and(evaluate(a.left), evaluate(a.right))
      case o: Or => and(evaluate(o.left).map(!_), evaluate(o.right).map(!_)).map(!_)
      case p: Predicate => leaf(p.name, p.children.map(valueOf).toSeq)
    }

    private def and(l: Option[Boolean], r: Option[Boolean]): Option[Boolean] = (l, r) match {
      case (Some(false), _) | (_, Some(false)) => Some(false)
      case (Some(true), Some(true)) => Some(true)
      case _ => None
    }

    private def leaf(name: String, values: Seq[Option[Any]]): Option[Boolean] = (name, values) match {
      case ("IS_NULL", Seq(v)) => Some(v.isEmpty)
      case ("IS_NOT_NULL", Seq(v)) => Some(v.isDefined)
      case ("<=>", Seq(None, None)) => Some(true)
      case ("<=>", Seq(None, _) | Seq(_, None)) => Some(false)
      case ("IN", v +: list) =>
        list.map(x => leaf("=", Seq(v, x))).foldLeft(Option(false))((a, b) => and(a.map(!_), b.map(!_)).map(!_))
      case (_, Seq(Some(a), Some(b))) => Some(isTrue(name, a, b))
      case _ => None
    }

    private def isTrue(name: String, a: Any, b: Any): Boolean = {
      val order = (a, b) match {
        case (x: Int, y: Int) => x.compare(y)
        case (x: Double, y: Double) => if (x == y) 0 else java.lang.Double.compare(x, y)
        case (x: UTF8String, y: UTF8String) => x.compareTo(y)
        case other => throw new IllegalArgumentException(other.toString)
      }
      name match {
        case "=" | "<=>" => order == 0
        case "<>" => order != 0
        case "<" => order < 0
        case "<=" => order <= 0
        case ">" => order > 0
        case ">=" => order >= 0
        case "STARTS_WITH" => a.toString.startsWith(b.toString)
      }
    }

    private def valueOf(e: Expression): Option[Any] = e match {
      case r: FieldReference => row.get(r.fieldNames.head)
      case v: LiteralValue[_] => Option(v.value)
      case other => throw new IllegalArgumentException(other.toString)
    }
  }
}
