package iceberglite.spark.read.soundness

import scala.util.Random

import iceberglite.spec.types.{DateTime, Literal, PrimitiveType}
import iceberglite.spec.types.Literal.{IntLiteral, LongLiteral, StringLiteral}
import iceberglite.spec.types.Type._

/**
 * Generates SQL conditions on the columns of a table. They include the kinds of conditions that Spark pushes down, and
 * conditions on functions of a column that iceberg-lite converts to ranges of the column.
 */
final class RandomPredicates(columns: Vector[(String, PrimitiveType)], random: Random) {
  private type Column = (String, PrimitiveType)

  /** @param depth maximum nesting of AND, OR, NOT and CASE */
  def next(depth: Int): String =
    if (depth == 0) leaf()
    else
      random.nextInt(7) match {
        case 0 | 1 => s"(${next(depth - 1)} AND ${next(depth - 1)})"
        case 2 | 3 => s"(${next(depth - 1)} OR ${next(depth - 1)})"
        case 4 => s"NOT (${next(depth - 1)})"
        case 5 if random.nextInt(4) == 0 =>
          s"(CASE WHEN ${next(depth - 1)} THEN ${next(depth - 1)} ELSE ${next(depth - 1)} END)"
        case _ => leaf()
      }

  private def oneOf[A](items: Seq[A]): A = items(random.nextInt(items.size))

  private def operator(): String = oneOf(Seq("=", "=", "<>", "<", "<=", ">", ">=", "<=>"))

  private def literal(t: PrimitiveType): String = SampleValues.toSql(SampleValues.randomValue(t, random))

  private def orNull(text: String): String = if (random.nextInt(12) == 0) "NULL" else text

  private def list(nextItem: => String, count: Int = 1 + random.nextInt(4)): String =
    Seq.fill(count)(nextItem).mkString("(", ", ", ")")

  private def leaf(): String = {
    val column = oneOf(columns)
    if (random.nextBoolean()) columnCondition(column)
    else
      column._2 match {
        case DateType | TimestampType | TimestampTzType => timeCondition(column)
        case StringType => stringCondition(column._1)
        case IntType | LongType | FloatType | _: DecimalType => numberCondition(column)
        case DoubleType => s"isnan(${column._1})"
        // Conditions with `coalesce` are not generated: with any data source, Spark 3.5 fails if `coalesce` occurs
        // between AND and OR inside CASE.
        case BooleanType => oneOf(Seq(column._1, s"${column._1} = true", s"NOT ${column._1}"))
        case BinaryType => s"lite.system.bucket(5, ${column._1}) = ${random.nextInt(5)}"
        case _ => columnCondition(column)
      }
  }

  private def columnCondition(column: Column): String = {
    val (name, t) = column
    random.nextInt(10) match {
      case 0 => s"$name IS NULL"
      case 1 => s"$name IS NOT NULL"
      case 2 => s"${literal(t)} ${operator()} $name"
      case 3 => s"$name ${oneOf(Seq("IN", "NOT IN"))} ${list(orNull(literal(t)))}"
      case 4 => s"$name BETWEEN ${literal(t)} AND ${literal(t)}"
      case 5 => oneOf(columns.filter(_._2 == t)) match { case (other, _) => s"$name ${operator()} $other" }
      case 6 if t == IntType || t == LongType =>
        s"$name IN (${(0 until 500).map(i => oneOf(Seq(i * 7, -i))).mkString(", ")})"
      case _ => s"$name ${operator()} ${orNull(literal(t))}"
    }
  }

  private def timeCondition(column: Column): String = {
    val (name, t) = column
    val date = literal(DateType)
    val unit = oneOf(Seq("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond"))
    random.nextInt(8) match {
      case 0 => transformCondition(column)
      case 1 => s"CAST($name AS DATE) ${operator()} ${orNull(date)}"
      case 2 => s"to_date($name) IN ${list(literal(DateType))}"
      case 3 => s"year($name) ${operator()} ${year()}"
      case 4 => s"year($name) IN ${list(year().toString)}"
      case 5 => s"month($name) = ${1 + random.nextInt(12)}"
      case 6 if t == DateType => s"trunc($name, '${oneOf(Seq("year", "quarter", "MM", "week"))}') ${operator()} $date"
      case _ =>
        val moment = literal(if (t == DateType) TimestampTzType else t)
        val bound = if (random.nextBoolean()) s"date_trunc('$unit', $moment)" else moment
        s"date_trunc('$unit', $name) ${operator()} $bound"
    }
  }

  private def year(): Int = oneOf(Seq(0, 1, 2, 1582, 1899, 1969, 1970, 2010, 2013, 2014, 2024, 9999, 10000, 300000))

  private def transformCondition(column: Column): String = {
    val (name, t) = column
    def units(function: String, count: Int): String =
      s"lite.system.$function($name) ${oneOf(Seq(s"${operator()} $count", s"IN ($count, ${count + 1})"))}"
    val y = year() - 1970
    oneOf(Seq("years", "months", "days", "hours", "bucket")) match {
      case "years" => units("years", y)
      case "months" => units("months", y * 12 + random.nextInt(12))
      case "days" => s"lite.system.days($name) ${operator()} ${literal(DateType)}"
      case "hours" if t != DateType => units("hours", (DateTime.MicrosPerDay / DateTime.MicrosPerHour).toInt * 365 * y)
      case _ => s"lite.system.bucket(2, $name) ${operator()} ${random.nextInt(2)}"
    }
  }

  private def stringCondition(name: String): String = {
    val text = SampleValues.randomValue(StringType, random) match {
      case StringLiteral(v) => v
      case other => other.toString
    }
    val length = random.nextInt(4)
    val prefix = text.substring(0, text.offsetByCodePoints(0, math.min(length, text.codePointCount(0, text.length))))
    val like = SampleValues.quotedString(prefix.replace("%", "\\%").replace("_", "\\_") + "%")
    random.nextInt(9) match {
      case 0 | 1 => s"$name ${oneOf(Seq("LIKE", "NOT LIKE"))} $like"
      case 2 => s"startswith($name, ${orNull(SampleValues.quotedString(text))})"
      case 3 => s"${oneOf(Seq("endswith", "contains"))}($name, ${SampleValues.quotedString(prefix)})"
      case 4 => s"substring($name, ${random.nextInt(3)}, $length) ${operator()} ${SampleValues.quotedString(prefix)}"
      case 5 => s"left($name, $length) ${operator()} ${SampleValues.quotedString(prefix)}"
      case 6 => s"left($name, $length) IN ${list(SampleValues.quotedString(prefix))}"
      case 7 => s"lite.system.truncate(${1 + length}, $name) ${operator()} ${SampleValues.quotedString(prefix)}"
      case _ => s"lite.system.bucket(5, $name) IN ${list(random.nextInt(5).toString)}"
    }
  }

  private def numberCondition(column: Column): String = {
    val (name, t) = column
    def value(valueType: PrimitiveType): Literal = SampleValues.randomValue(valueType, random)
    random.nextInt(4) match {
      case 0 => s"CAST($name AS DOUBLE) ${operator()} ${SampleValues.toSql(value(DoubleType))}"
      case 1 if t != FloatType => s"lite.system.bucket(2, $name) = ${random.nextInt(2)}"
      case 2 if t != FloatType => s"lite.system.truncate(10, $name) ${operator()} ${SampleValues.toSql(value(t))}"
      case _ if t == IntType => s"CAST($name AS BIGINT) ${operator()} ${SampleValues.toSql(toLong(value(LongType)))}"
      case _ => s"$name + 1 ${operator()} ${SampleValues.toSql(value(t))}"
    }
  }

  private def toLong(value: Literal): Literal = value match {
    case IntLiteral(v) => LongLiteral(v.toLong)
    case other => other
  }
}
