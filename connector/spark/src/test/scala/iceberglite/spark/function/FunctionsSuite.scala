package iceberglite.spark.function

import java.math.BigDecimal
import java.nio.ByteBuffer

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.ApplyFunctionExpression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.LongType
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession
import iceberglite.spark.rules.CompileFunctionCalls
import iceberglite.spec.partition.{Bucket, Day, Hour, Month, Transform, Truncate, Year}
import iceberglite.spec.types.{Literal, Murmur3}
import iceberglite.spec.types.Literal._

class FunctionsSuite extends AnyFunSuite with SharedSession {

  private val micros = 1510871468000001L // 2017-11-16T22:31:08.000001
  private val arguments: Seq[(String, Literal)] = Seq(
    "CAST(34 AS TINYINT)" -> IntLiteral(34),
    "34" -> IntLiteral(34),
    "-34" -> IntLiteral(-34),
    "34L" -> LongLiteral(34),
    "-7000000000" -> LongLiteral(-7000000000L),
    "CAST(-14.20 AS DECIMAL(9, 2))" -> DecimalLiteral(new BigDecimal("-14.20")),
    "CAST(14.20 AS DECIMAL(38, 2))" -> DecimalLiteral(new BigDecimal("14.20")),
    "DATE '2017-11-16'" -> DateLiteral(17486),
    "DATE '1969-12-31'" -> DateLiteral(-1),
    s"timestamp_micros($micros)" -> TimestampTzLiteral(micros),
    "TIMESTAMP_NTZ '1969-12-31 23:59:59.999999'" -> TimestampLiteral(-1),
    "'iceberg'" -> StringLiteral("iceberg"),
    "'漢字かな'" -> StringLiteral("漢字かな"),
    "X'00010203'" -> BinaryLiteral(ByteBuffer.wrap(Array[Byte](0, 1, 2, 3)))
  )

  test("the functions return the results of the specification's transforms", Slow) {
    def check(call: String => String, transform: Transform): Unit = arguments.foreach { case (sqlText, literal) =>
      if (transform.canTransform(literal.dataType)) {
        val expected = transform(literal).map(resultValue).orNull
        // The call is evaluated once as a constant, and once for a row in generated code.
        assert(resultOf(s"SELECT ${call(sqlText)}") == expected, s"$transform of $sqlText")
        assert(
          resultOf(s"SELECT ${call("v")} FROM (SELECT $sqlText AS v FROM range(1))") == expected,
          s"$transform of $sqlText"
        )
      }
    }
    check(v => s"lite.system.bucket(16, $v)", Bucket(16))
    check(v => s"lite.system.truncate(3, $v)", Truncate(3))
    check(v => s"lite.system.years($v)", Year)
    check(v => s"lite.system.months($v)", Month)
    check(v => s"lite.system.days($v)", Day)
    check(v => s"lite.system.hours($v)", Hour)
  }

  test("tasks that call a function with different parameters at the same time do not affect each other") {
    val wrong = (2 to 5).par.map { parameter =>
      val (bucket, truncate) = (Bucket(parameter), Truncate(parameter))
      (0 until 100000).count { i =>
        BucketFunction.OfLong(LongType).invoke(parameter, i.toLong) != bucket.ofHash(Murmur3.hashLong(i.toLong)) ||
        TruncateFunction.OfLong.invoke(parameter, i.toLong) != truncate.ofLong(i.toLong)
      }
    }
    assert(wrong.sum == 0)
  }

  test("the functions return the same results for columns as the functions of Apache Iceberg", Slow) {
    Seq("bucket(7, v)", "truncate(10, v)").foreach(assertSame(_, "SELECT id * 7919 - 500 AS v FROM range(1000)"))
    Seq("bucket(7, v)", "truncate(3, v)").foreach(assertSame(_, "SELECT concat('é', id, '漢') AS v FROM range(1000)"))
    Seq("bucket(7, v)", "truncate(50, v)")
      .foreach(assertSame(_, "SELECT CAST((id - 500) / 7 AS DECIMAL(20, 4)) AS v FROM range(1000)"))
    Seq("years(v)", "months(v)", "days(v)", "hours(v)", "bucket(7, v)")
      .foreach(assertSame(_, "SELECT timestamp_micros((id - 500) * 12345678901) AS v FROM range(1000)"))
  }

  test("the functions return null for a null argument") {
    Seq("INT", "BIGINT", "DECIMAL(9, 2)", "DATE", "TIMESTAMP", "STRING", "BINARY").foreach { t =>
      assert(resultOf(s"SELECT lite.system.bucket(4, v) FROM (SELECT CAST(NULL AS $t) AS v FROM range(1))") == null, t)
    }
    assert(resultOf("SELECT lite.system.days(v) FROM (SELECT CAST(NULL AS TIMESTAMP) AS v FROM range(1))") == null)
    assert(resultOf("SELECT lite.system.truncate(4, CAST(NULL AS STRING))") == null)
  }

  test("the error for invalid arguments of a function contains the signature of the function") {
    Seq(
      "bucket(4, true)" -> "bucket(number, value)",
      "bucket('4', 1)" -> "bucket(number, value)",
      "truncate(4, 1.5D)" -> "truncate(width, value)",
      "days('2020-01-01')" -> "days(date or timestamp)",
      "hours(DATE '2020-01-01')" -> "hours(timestamp)"
    ).foreach { case (call, expected) =>
      assert(intercept[AnalysisException](sql(s"SELECT lite.system.$call")).getMessage.contains(expected), call)
    }
    val error = intercept[Exception](sql("SELECT lite.system.bucket(0, id) FROM range(3)").collect())
    assert(Iterator.iterate[Throwable](error)(_.getCause).takeWhile(_ != null).exists(
      _.getMessage.contains("number of buckets: 0")
    ))
  }

  test("iceberg_version returns the version of iceberg-lite") {
    assert(resultOf("SELECT lite.system.iceberg_version()") == iceberglite.spark.conf.EngineSummary.version)
  }

  test("the function days in Functions.inPlans has an invoke method, and the one in Functions.all has none") {
    def hasInvokeMethod(f: org.apache.spark.sql.connector.catalog.functions.BoundFunction) =
      f.getClass.getMethods.exists(_.getName == "invoke")
    val types = new org.apache.spark.sql.types.StructType().add("v", "timestamp")
    assert(Functions.inPlans.filter(_.name == "days").forall(f => hasInvokeMethod(f.bind(types))))
    assert(Functions.all.filter(_.name == "days").forall(f => !hasInvokeMethod(f.bind(types))))
  }

  test("calls in queries are compiled, and have the same results as interpreted calls") {
    val source = "SELECT id, CAST(id AS INT) AS i, timestamp_micros(id * 86399999999) AS ts, concat('é', id) AS s, " +
      "CAST(id AS DECIMAL(20, 2)) AS d, IF(id % 5 = 0, NULL, date_add(DATE '1969-12-01', CAST(id AS INT))) AS day " +
      "FROM range(500)"
    val calls = Seq(
      "bucket(7, i)",
      "bucket(7, d)",
      "truncate(3, s)",
      "truncate(10, d)",
      "years(day)",
      "months(ts)",
      "days(ts)",
      "hours(ts)"
    ).map(call => s"lite.system.$call")
    val query = sql(s"SELECT ${calls.mkString(", ")} FROM ($source)")
    assert(interpreted(query.queryExecution.analyzed) == calls.size)
    assert(interpreted(query.queryExecution.optimizedPlan) == 0)
    assert(
      interpreted(sql(s"SELECT count(*) FROM ($source) GROUP BY ${calls(6)} HAVING ${calls(6)} > DATE '1970-01-01'")
        .queryExecution.optimizedPlan) == 0
    )
    val excluded = "spark.sql.optimizer.excludedRules" -> CompileFunctionCalls.ruleName
    withConf(excluded) {
      val other = sql(s"SELECT ${calls.mkString(", ")} FROM ($source)")
      assert(interpreted(other.queryExecution.optimizedPlan) == calls.size)
      assert(query.collect().toSeq == other.collect().toSeq)
    }
  }

  test("calls with constant arguments are constants") {
    val plan = sql("SELECT lite.system.bucket(16, 34), lite.system.iceberg_version(), lite.system.zorder(1, 2)")
      .queryExecution.optimizedPlan
    assert(plan.expressions.flatMap(_.children).forall(_.foldable) && interpreted(plan) == 0)
  }

  private def interpreted(plan: LogicalPlan): Int =
    plan.collect { case node =>
      node.expressions.map(_.collect { case call: ApplyFunctionExpression => call }.size).sum
    }
      .sum

  private def assertSame(call: String, source: String): Unit =
    assert(
      sorted(s"SELECT v, lite.system.$call FROM ($source)") == sorted(s"SELECT v, ice.system.$call FROM ($source)")
    )

  private def resultOf(query: String): Any = rows(query).head.get(0) match {
    case bytes: Array[Byte] => bytes.toSeq
    case date: java.sql.Date => date.toLocalDate.toEpochDay
    case decimal: BigDecimal => decimal.stripTrailingZeros
    case number: Number => number.longValue
    case other => other
  }

  private def resultValue(literal: Literal): Any = literal match {
    case IntLiteral(v) => v.toLong
    case LongLiteral(v) => v
    case DateLiteral(days) => days.toLong
    case DecimalLiteral(v) => v.stripTrailingZeros
    case StringLiteral(v) => v
    case BinaryLiteral(b) => b.array.slice(b.position(), b.limit).toSeq
    case other => other
  }
}
