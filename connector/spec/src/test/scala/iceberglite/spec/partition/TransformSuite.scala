package iceberglite.spec.partition

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

import iceberglite.conformance.PartitionRules
import iceberglite.spec.IcebergError
import iceberglite.spec.expr.{EvaluatedPredicate, ExpressionGenerators, Term}
import iceberglite.spec.expr.Expression.{IsNull, NotNull}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{DateTime, Literal, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

class TransformSuite extends AnyFunSuite {
  private val micros = DateTime.parseTimestamp("2017-11-16T22:31:08.000001").get

  private def bytes(all: Int*): ByteBuffer = ByteBuffer.wrap(all.map(_.toByte).toArray)

  private val primitives: Seq[PrimitiveType] = Seq(
    BooleanType,
    IntType,
    LongType,
    FloatType,
    DoubleType,
    DecimalType(9, 2),
    DateType,
    TimeType,
    TimestampType,
    TimestampTzType,
    TimestampNsType,
    TimestampTzNsType,
    StringType,
    UuidType,
    FixedType(4),
    BinaryType,
    UnknownType,
    VariantType,
    GeometryType(DefaultCrs),
    GeographyType(DefaultCrs, DefaultEdgeAlgorithm)
  )

  test("every transform is parsed from its name") {
    val all = Seq(Identity, Bucket(16), Truncate(3), Year, Month, Day, Hour, Void)
    all.foreach(t => assert(Transforms.parse(t.name) == t))
    assert(all.map(_.toString) ==
      Seq("identity", "bucket[16]", "truncate[3]", "year", "month", "day", "hour", "void"))
  }

  test("an unknown transform keeps its name", PartitionRules.unknownKept) {
    val unknown = Transforms.parse("zorder[3]")
    assert(unknown == UnknownTransform("zorder[3]"))
    assert(unknown.name == "zorder[3]")
    assert(unknown.resultType(IntType) == StringType)
    assertThrows[IcebergError.Unsupported](unknown(IntLiteral(1)))
  }

  test("a transform parameter of zero or out of range is rejected") {
    Seq("bucket[0]", "truncate[0]", "bucket[99999999999]").foreach { name =>
      assertThrows[IcebergError.InvalidArgument](Transforms.parse(name))
    }
  }

  test(
    "each transform has the source types and the result type of the specification",
    PartitionRules.transformTypes,
    PartitionRules.noIdentityOfVariant,
    PartitionRules.dayIsDate
  ) {
    val hashed = primitives.slice(5, 16) ++ Seq(IntType, LongType)
    val moments = Seq(TimestampType, TimestampTzType, TimestampNsType, TimestampTzNsType)
    val table = Table[Transform, Seq[PrimitiveType], PrimitiveType => PrimitiveType](
      ("transform", "sources", "result"),
      (Identity, primitives.take(17), identity),
      (Bucket(4), hashed, _ => IntType),
      (Truncate(4), Seq(IntType, LongType, DecimalType(9, 2), StringType, BinaryType), identity),
      (Year, DateType +: moments, _ => IntType),
      (Month, DateType +: moments, _ => IntType),
      (Day, DateType +: moments, _ => DateType),
      (Hour, moments, _ => IntType),
      (Void, primitives, identity)
    )
    forAll(table) { (transform, sources, result) =>
      assert(primitives.filter(transform.canTransform).toSet == sources.toSet)
      assert(!transform.canTransform(StructType(Vector.empty)))
      assert(!transform.canTransform(ListType(1, IntType, elementRequired = true)))
      sources.foreach(s => assert(transform.resultType(s) == result(s)))
    }
  }

  test(
    "buckets are computed from the hashes of Appendix B, and nanoseconds are hashed as microseconds",
    PartitionRules.hashes,
    PartitionRules.hashesOfNanos,
    PartitionRules.bucketSign
  ) {
    val hashes = Table(
      ("value", "hash"),
      (IntLiteral(34), 2017239379),
      (LongLiteral(34L), 2017239379),
      (DecimalLiteral(new BigDecimal("14.20")), -500754589),
      (DateLiteral(17486), -653330422),
      (TimeLiteral(81068000000L), -662762989),
      (TimestampLiteral(micros - 1), -2047944441),
      (TimestampLiteral(micros), -1207196810),
      (TimestampTzLiteral(micros - 1), -2047944441),
      (TimestampTzLiteral(micros), -1207196810),
      (TimestampNsLiteral((micros - 1) * 1000), -2047944441),
      (TimestampNsLiteral(micros * 1000 + 1), -1207196810),
      (TimestampTzNsLiteral(micros * 1000 + 1), -1207196810),
      (StringLiteral("iceberg"), 1210000089),
      (UuidLiteral(UUID.fromString("f79c3e09-677c-4bbd-a479-3f349cb785e7")), 1488055340),
      (FixedLiteral(bytes(0, 1, 2, 3)), -188683207),
      (BinaryLiteral(bytes(0, 1, 2, 3)), -188683207)
    )
    forAll(hashes) { (value: Literal, hash: Int) =>
      Seq(1, 16, 100, Int.MaxValue).foreach { n =>
        assert(Bucket(n)(value).contains(IntLiteral((hash & Int.MaxValue) % n)), value)
        assert(Bucket(n).ofHash(hash) == (hash & Int.MaxValue) % n)
      }
    }
    assertThrows[IcebergError.InvalidArgument](Bucket(4)(DoubleLiteral(1.0)))
  }

  test(
    "numbers are truncated downwards, including negative numbers",
    PartitionRules.truncateNumbers,
    PartitionRules.truncateDecimals
  ) {
    assert(Truncate(10)(IntLiteral(1)).contains(IntLiteral(0)))
    assert(Truncate(10)(IntLiteral(-1)).contains(IntLiteral(-10)))
    assert(Truncate(10)(IntLiteral(-10)).contains(IntLiteral(-10)))
    assert(Truncate(10)(LongLiteral(-1L)).contains(LongLiteral(-10L)))
    assert(Truncate(10)(LongLiteral(19L)).contains(LongLiteral(10L)))
    assert(Truncate(50)(DecimalLiteral(new BigDecimal("10.65"))).contains(DecimalLiteral(new BigDecimal("10.50"))))
    assert(Truncate(10)(DecimalLiteral(new BigDecimal("-0.05"))).contains(DecimalLiteral(new BigDecimal("-0.10"))))
  }

  test("truncating the smallest numbers underflows if they are no multiple of the width") {
    assert(Truncate(10).ofInt(Int.MinValue) == 2147483646)
    assert(Truncate(16).ofInt(Int.MinValue) == Int.MinValue)
    assert(Truncate(10).ofLong(Long.MinValue) == 9223372036854775806L)
  }

  test(
    "strings are truncated to a number of code points, never within a surrogate pair",
    PartitionRules.truncateStrings
  ) {
    assert(Truncate(3).ofString("iceberg") == "ice")
    assert(Truncate(3).ofString("ic") == "ic")
    assert(Truncate(2).ofString("\uD83D\uDE00\uD83D\uDE01\uD83D\uDE02") == "\uD83D\uDE00\uD83D\uDE01")
    assert(Truncate(2).ofString("a\uD83D\uDE00b") == "a\uD83D\uDE00")
    assert(Truncate(2).ofString("\u4E2D\u6587\u5B57") == "\u4E2D\u6587")
    assert(Truncate(2).ofString("") == "")
  }

  test("binary values are truncated to a number of bytes", PartitionRules.truncateBinary) {
    val source = bytes(9, 1, 2, 3, 4, 5)
    source.position(1)
    assert(Truncate(3).ofBytes(source) == bytes(1, 2, 3))
    assert(source.position() == 1 && source.limit() == 6)
    assert(Truncate(9).ofBytes(source) == bytes(1, 2, 3, 4, 5))
    assert(Truncate(2)(BinaryLiteral(bytes("é".getBytes(UTF_8).map(_.toInt): _*))).isDefined)
  }

  test(
    "years, months, days and hours are counted from 1970 and rounded down",
    PartitionRules.timeFloor,
    PartitionRules.dayIsDate
  ) {
    val times = Table(
      ("text", "year", "month", "day", "hour"),
      ("2017-11-16T22:31:08.000001", 47, 574, 17486, 419686),
      ("1970-01-01T00:00:00", 0, 0, 0, 0),
      ("1969-12-31T23:59:59.999999", -1, -1, -1, -1),
      ("1969-12-31T23:00:00", -1, -1, -1, -1),
      ("1969-01-01T00:00:00", -1, -12, -365, -8760),
      ("1968-12-31T23:59:59", -2, -13, -366, -8761)
    )
    forAll(times) { (text, year, month, day, hour) =>
      val micros = DateTime.parseTimestamp(text).get
      val moments = Seq(
        TimestampLiteral(micros),
        TimestampTzLiteral(micros),
        TimestampNsLiteral(micros * 1000),
        TimestampTzNsLiteral(micros * 1000)
      )
      (moments :+ DateLiteral(day)).foreach { value =>
        assert(Year(value).contains(IntLiteral(year)))
        assert(Month(value).contains(IntLiteral(month)))
        assert(Day(value).contains(DateLiteral(day)))
      }
      moments.foreach(value => assert(Hour(value).contains(IntLiteral(hour))))
    }
  }

  test("void returns null for every value", PartitionRules.voidIsNull) {
    assert(Void(IntLiteral(1)).isEmpty)
    assert(Void.toHuman(IntLiteral(1)) == "null")
  }

  test("partition paths show dates and times in readable form", PartitionRules.partitionPaths) {
    assert(Year.toHuman(IntLiteral(47)) == "2017")
    assert(Year.toHuman(IntLiteral(-1)) == "1969")
    assert(Month.toHuman(IntLiteral(574)) == "2017-11")
    assert(Month.toHuman(IntLiteral(-1)) == "1969-12")
    assert(Day.toHuman(DateLiteral(17486)) == "2017-11-16")
    assert(Day.toHuman(IntLiteral(-1)) == "1969-12-31")
    assert(Hour.toHuman(IntLiteral(419686)) == "2017-11-16-22")
    assert(Hour.toHuman(IntLiteral(-1)) == "1969-12-31-23")
    assert(Identity.toHuman(DateLiteral(17486)) == "2017-11-16")
    assert(Identity.toHuman(TimestampLiteral(micros)) == "2017-11-16T22:31:08.000001")
    assert(Identity.toHuman(TimestampTzLiteral(micros)) == "2017-11-16T22:31:08.000001+00:00")
    assert(Identity.toHuman(TimeLiteral(81068000000L)) == "22:31:08")
  }

  test("partition paths show other values as text, and bytes in base64") {
    assert(Bucket(16).toHuman(IntLiteral(3)) == "3")
    assert(Identity.toHuman(BooleanLiteral(true)) == "true")
    assert(Identity.toHuman(StringLiteral("a'b")) == "a'b")
    assert(Identity.toHuman(DecimalLiteral(new BigDecimal("1.20"))) == "1.20")
    assert(Identity.toHuman(BinaryLiteral(bytes(1, 2, 3))) == "AQID")
    assert(Truncate(3).toHuman(FixedLiteral(bytes(1, 2, 3))) == "AQID")
  }

  test("the default name of a partition field is built from its column and transform") {
    assert(Identity.defaultFieldName("c") == "c")
    assert(Bucket(16).defaultFieldName("c") == "c_bucket")
    assert(Truncate(4).defaultFieldName("c") == "c_trunc")
    assert(Seq(Year, Month, Day, Hour).map(_.defaultFieldName("ts")) ==
      Seq("ts_year", "ts_month", "ts_day", "ts_hour"))
  }

  /** Whether a transform of this value may overflow the range of its type (see [[Truncate]] and [[Hour]]). */
  private def mayOverflow(value: Literal): Boolean = value match {
    case IntLiteral(v) => v < Int.MinValue + 1000
    case LongLiteral(v) => v < Long.MinValue + 1000
    case TimestampLiteral(v) => v == Long.MinValue || v == Long.MaxValue
    case TimestampTzLiteral(v) => v == Long.MinValue || v == Long.MaxValue
    case _ => false
  }

  test("order-preserving transforms return no smaller result for a greater value", PartitionRules.orderKept) {
    val cases = for {
      t <- Gen.oneOf(ExpressionGenerators.types)
      transform <- Gen.oneOf(ExpressionGenerators.transforms(t).filter(_.preservesOrder))
      a <- ExpressionGenerators.value(t)
      b <- ExpressionGenerators.value(t)
      if !mayOverflow(a) && !mayOverflow(b)
    } yield (transform, a, b)
    (1L to 4000L).flatMap(seed => cases.apply(Gen.Parameters.default, Seed(seed))).foreach { case (transform, a, b) =>
      val results = Seq(a, b).sorted(Literal.ordering).map(transform(_).get)
      assert(Literal.ordering.lteq(results.head, results.last), s"$transform of $a and $b")
    }
  }

  test(
    "floating-point numbers are ordered as by Java's Double.compare (spec: Sorting): all NaNs are equal and last",
    PartitionRules.sortNan
  ) {
    def check(values: Seq[Literal]): Unit =
      for ((a, i) <- values.zipWithIndex; (b, j) <- values.zipWithIndex)
        assert(Integer.signum(Literal.ordering.compare(a, b)) == Integer.compare(i, j), s"$a and $b")
    import java.lang.Double.longBitsToDouble
    import java.lang.Float.intBitsToFloat
    val doubles = Seq(Double.NegativeInfinity, -Double.MaxValue, -1.5, -Double.MinPositiveValue, -0.0) ++
      Seq(0.0, Double.MinPositiveValue, 1.5, Double.MaxValue, Double.PositiveInfinity)
    val doubleNans = Seq(Double.NaN, longBitsToDouble(-1L), longBitsToDouble(0x7ff0000000000001L))
    doubleNans.foreach(nan => check((doubles :+ nan).map(DoubleLiteral)))
    for (a <- doubleNans; b <- doubleNans) assert(Literal.ordering.equiv(DoubleLiteral(a), DoubleLiteral(b)))
    val floats = Seq(Float.NegativeInfinity, -Float.MaxValue, -1.5f, -Float.MinPositiveValue, -0.0f) ++
      Seq(0.0f, Float.MinPositiveValue, 1.5f, Float.MaxValue, Float.PositiveInfinity)
    val floatNans = Seq(Float.NaN, intBitsToFloat(-1), intBitsToFloat(0x7f800001))
    floatNans.foreach(nan => check((floats :+ nan).map(FloatLiteral)))
    for (a <- floatNans; b <- floatNans) assert(Literal.ordering.equiv(FloatLiteral(a), FloatLiteral(b)))
  }

  test(
    "every transform returns null for null, so that every partition field is optional",
    PartitionRules.nullGivesNull
  ) {
    val transforms = Seq(Identity, Bucket(4), Truncate(3), Year, Month, Day, Hour, Void)
    val spec = PartitionSpec(0, transforms.map(t => PartitionField(1, 1000, "p", t)).toVector)
    assert(spec.partitionType(Schema.Empty).fields.forall(_.optional))
    for (column <- ExpressionGenerators.columns; transform <- transforms if transform.canTransform(column.fieldType)) {
      val transformed = Term.Transformed(transform, ExpressionGenerators.term(column))
      assert(EvaluatedPredicate.on(None, IsNull(transformed)), s"$transform of ${column.fieldType}")
      assert(!EvaluatedPredicate.on(None, NotNull(transformed)), s"$transform of ${column.fieldType}")
    }
  }
}
