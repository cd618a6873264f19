package iceberglite.spark.read.parquet

import java.math.BigDecimal

import org.apache.parquet.example.data.Group
import org.apache.parquet.schema.MessageTypeParser.parseMessageType
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.{MoreRoundsInSlowTierTag, Sampling}
import iceberglite.spark.read.parquet.ParquetFile.{Scan, write}
import iceberglite.spec.expr.{Bind, Evaluate, Expression, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.NestedField.optional
import iceberglite.spec.types.Type._

/** Checks which row groups and pages of Parquet files are skipped by filters. */
class ParquetFilterSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val schema = Schema(
    0,
    Vector(
      optional(1, "i", IntType),
      optional(2, "promoted", LongType),
      optional(3, "f", FloatType),
      optional(4, "d", DoubleType),
      optional(5, "s", StringType),
      optional(6, "dec", DecimalType(12, 2)),
      optional(7, "st", StructType(Vector(optional(8, "x", IntType)))),
      optional(9, "day", DateType),
      optional(10, "big", DecimalType(30, 2))
    )
  )

  private val parquet = parseMessageType(
    """message m { optional int32 renamed = 1; optional int32 i = 2; optional float f = 3; optional float d = 4;
      |  optional binary s (UTF8) = 5; optional int32 dec (DECIMAL(7,2)) = 6;
      |  optional group st = 7 { optional int32 x = 8; }
      |  optional int32 day (DATE) = 9; optional fixed_len_byte_array(10) big (DECIMAL(20,2)) = 10; }""".stripMargin
  )

  /** The values of a row by field id. */
  private type Values = Map[Int, Any]

  private def fill(row: Values)(g: Group): Unit = row.foreach {
    case (1, v: Int) => g.append("renamed", v)
    case (2, v: Int) => g.append("i", v)
    case (3, v: Float) => g.append("f", v)
    case (4, v: Float) => g.append("d", v)
    case (5, v: String) => g.append("s", v)
    case (6, v: Int) => g.append("dec", v)
    case (8, v: Int) => g.addGroup("st").append("x", v)
    case (9, v: Int) => g.append("day", v)
    case (10, v: Int) =>
      val digits = java.math.BigInteger.valueOf(v.toLong).toByteArray
      val padded = Array.fill[Byte](10 - digits.length)(if (v < 0) -1 else 0) ++ digits
      g.append("big", org.apache.parquet.io.api.Binary.fromConstantByteArray(padded))
    case other => throw new IllegalArgumentException(other.toString)
  }

  private def literal(id: Int, value: Any): Literal = (id, value) match {
    case (1 | 8, v: Int) => IntLiteral(v)
    case (2, v: Int) => LongLiteral(v.toLong)
    case (3, v: Float) => FloatLiteral(v)
    case (4, v: Float) => DoubleLiteral(v.toDouble)
    case (5, v: String) => StringLiteral(v)
    case (6 | 10, v: Int) => DecimalLiteral(BigDecimal.valueOf(v.toLong, 2))
    case (9, v: Int) => DateLiteral(v)
    case other => throw new IllegalArgumentException(other.toString)
  }

  private val ids = Seq(1, 2, 3, 4, 5, 6, 8, 9, 10)
  private val ints = Gen.oneOf(Gen.choose(-20, 20), Gen.oneOf(Int.MinValue, Int.MaxValue))
  private val floats = Gen.oneOf(Gen.choose(-3, 3).map(_ / 2f), Gen.oneOf(0f, -0f, Float.NaN, Float.PositiveInfinity))
  private val strings = Gen.oneOf("", "a", "ab", "abc", "b", "ä", "\ud83d\ude00", "\uffee")

  private def value(id: Int): Gen[Any] = id match {
    case 3 | 4 => floats
    case 5 => strings
    case 6 | 9 => Gen.choose(-999, 999)
    case _ => ints
  }

  private val row: Gen[Values] =
    Gen.sequence[Seq[Option[(Int, Any)]], Option[(Int, Any)]](ids.map(id => Gen.option(value(id).map(id -> _))))
      .map(_.flatten.toMap)

  private val predicate: Gen[Expression] = for {
    id <- Gen.oneOf(ids)
    term = Term.Named(schema.names(id))
    v <- value(id).map(literal(id, _))
    others <- Gen.listOf(value(id).map(literal(id, _)))
    prefix <- strings
    tests = Seq(IsNull(term), NotNull(term), LessThan(term, v), LessThanOrEqual(term, v), GreaterThan(term, v)) ++
      Seq(GreaterThanOrEqual(term, v), Equal(term, v), NotEqual(term, v), In(term, others.toSet + v)) ++
      Seq(NotIn(term, others.toSet + v), IsNan(term), NotNan(term)) ++
      (if (id == 5) Seq(StartsWith(term, prefix), NotStartsWith(term, prefix)) else Nil)
    chosen <- Gen.oneOf(tests)
  } yield chosen

  private val filter: Gen[Expression] = Gen.oneOf(
    predicate,
    for (a <- predicate; b <- predicate) yield And(a, b),
    for (a <- predicate; b <- predicate) yield Or(a, b),
    predicate.map(Not)
  )

  test("random filters on random rows never skip a matching row", MoreRoundsInSlowTierTag) {
    val manyRows = Gen.listOfN(40, row).map(_.sortBy(_.get(1).map(_.asInstanceOf[Int])))
    forAll(manyRows, Gen.listOfN(8, filter), minSuccessful(if (Sampling.isFast) 25 else 100)) { (rows, filters) =>
      val file = write(parquet, pageRows = 5)(rows.map(r => fill(r)(_)): _*)
      filters.foreach { f =>
        val bound = Bind(f, schema, caseSensitive = true)
        val matches = Evaluate.rows[Values](bound, id => _.get(id).map(literal(id, _)))
        val withoutNan = Set(3, 4).filterNot(id => rows.exists(_.get(id).exists(_.toString == "NaN")))
        val scan = Scan(schema.fields :+ MetadataColumns.Position, metadataIds = Set(MetadataColumns.Position.id))
        val readPositions = file.read(scan.withFilter(bound, withoutNan)).map(_.getLong(9))
        val matching = rows.indices.filter(i => matches(rows(i))).map(_.toLong)
        assert(matching.diff(readPositions).isEmpty, s"$f")
        assert(readPositions == readPositions.distinct.sorted)
      }
    }
  }

  private val sortedFile = write(parquet, pageRows = 10)((0 until 100).map { i => (g: Group) =>
    g.append("renamed", i).append("i", i).append("s", f"k$i%03d").append("f", i.toFloat)
    g.append("dec", i * 100).append("day", i)
    g.addGroup("st").append("x", i)
  }: _*)

  private def rowsRead(filter: Expression, withoutNan: Set[Int] = Set.empty): Int = {
    val bound = Bind(filter, schema, caseSensitive = true)
    sortedFile.read(Scan(schema.fields).withFilter(bound, withoutNan)).size
  }

  private def column(name: String) = Term.Named(name)

  test("pages without a matching row are skipped for several column types") {
    val pageRows = 10
    assert(rowsRead(Equal(column("i"), IntLiteral(55))) == pageRows)
    assert(rowsRead(Equal(column("promoted"), LongLiteral(55))) == pageRows)
    assert(rowsRead(LessThan(column("promoted"), LongLiteral(10))) == pageRows)
    assert(rowsRead(Equal(column("s"), StringLiteral("k055"))) == pageRows)
    assert(rowsRead(StartsWith(column("s"), "k05")) == pageRows)
    assert(rowsRead(Equal(column("dec"), DecimalLiteral(new BigDecimal("55.00")))) == pageRows)
    assert(rowsRead(Equal(column("day"), DateLiteral(55))) == pageRows)
    assert(rowsRead(Equal(column("st.x"), IntLiteral(55))) == pageRows)
    assert(rowsRead(Equal(column("f"), FloatLiteral(55f))) == pageRows)
    assert(rowsRead(In(column("i"), Set(IntLiteral(5), IntLiteral(95)))) == 2 * pageRows)
    assert(rowsRead(IsNull(column("i"))) == 0)
  }

  test("a row group is skipped if its dictionary or Bloom filter lacks the value, even if its bounds contain it") {
    val parquetSchema = parseMessageType("message m { optional int32 i = 2; }")
    val even = (0 until 100).map(i => (g: Group) => g.append("i", i % 50 * 2))
    val fileSchema = Schema(0, schema.fields.filter(_.id == 2))
    for (bloomFilterColumn <- Seq(None, Some("i"))) {
      val file = write(parquetSchema, bloomFilterColumn = bloomFilterColumn)(even: _*)
      def rowsReadFor(value: Int): Int = {
        val bound = Bind(Equal(column("promoted"), LongLiteral(value.toLong)), fileSchema, caseSensitive = true)
        file.read(Scan(fileSchema.fields).withFilter(bound)).size
      }
      assert(rowsReadFor(55) == 0 && rowsReadFor(56) == 100, bloomFilterColumn)
    }
  }

  test("greater-than filters skip pages only if the column cannot contain NaN") {
    val filter = GreaterThan(column("f"), FloatLiteral(95f))
    assert(rowsRead(filter) == 100)
    assert(rowsRead(filter, withoutNan = Set(3)) == 10)
  }

  test("a filter on a column that the scan does not read skips no rows") {
    val bound = Bind(Equal(column("i"), IntLiteral(55)), schema, caseSensitive = true)
    assert(sortedFile.read(Scan(Vector(optional(5, "s", StringType))).withFilter(bound)).size == 100)
    assert(sortedFile.read(Scan(Vector.empty).withFilter(bound)).size == 100)
  }
}
