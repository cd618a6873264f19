package iceberglite.spark.constraint

import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.types.LongType
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.error.Causes
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.property.CheckConstraint

/** Checks which conditions of CHECK constraints are permitted, and which rows satisfy them. */
class ConstraintConditionSuite extends AnyFunSuite with ConstraintFixture {
  private val notACondition = "It must be a condition on the columns of"

  /** Conditions whose result depends on more than the values of a row. */
  private val dependsOnMore = Seq(
    "rand() > 2",
    "current_user() = 'a'",
    "current_date() > DATE '2020-01-01'",
    "current_timestamp() > TIMESTAMP '2020-01-01'",
    "now() > TIMESTAMP '2020-01-01'",
    "unix_timestamp() > 1",
    "current_database() = 'a'",
    "uuid() = s",
    "input_file_name() = s",
    "monotonically_increasing_id() > 1"
  )

  test("a condition can use only deterministic built-in functions of one row") {
    val t = create("id BIGINT, s STRING", 2, "copy-on-write")
    spark.udf.register("my_udf", (n: Long) => n > 0)
    val rejected = Seq(
      "id + 1" -> notACondition,
      "missing > 1" -> notACondition,
      "id >" -> notACondition,
      "sum(id) > 1" -> notACondition,
      "row_number() OVER (ORDER BY id) > 1" -> notACondition,
      "explode(array(true))" -> notACondition,
      "id > 0 AS b" -> "It must not have an alias",
      "id > (SELECT 1)" -> "It must not contain a subquery",
      s"id IN (SELECT id FROM $t)" -> "It must not contain a subquery",
      "my_udf(id)" -> "my_udf is not a built-in function of Spark",
      "lite.system.bucket(2, id) = 1" -> "lite.system.bucket is not a built-in function of Spark",
      "reflect('java.util.UUID', 'randomUUID') = s" -> "is not permitted",
      "java_method('java.util.UUID', 'randomUUID') = s" -> "is not permitted"
    ) ++ dependsOnMore.map(_ -> "must depend only on the values of the row")
    rejected.foreach { case (condition, expected) =>
      errorOf(sql(s"ALTER TABLE $t ADD CONSTRAINT c CHECK ($condition)")) match {
        case InvalidArgument(name, _, reason) =>
          assert(name == s"CHECK constraint c of $t" && reason.contains(expected), condition)
        case other => fail(s"$condition: $other")
      }
    }
    val error = intercept[Exception](sql(s"ALTER TABLE $t ADD CONSTRAINT c CHECK (id > 0) OR (true)"))
    assert(Causes.of(error).exists(_.isInstanceOf[ParseException]))
    assert(CheckConstraint.of(live(t).properties).isEmpty)
  }

  test("a condition must use a column, and must not depend on the meaning of double quotes in the session") {
    val t = create("n BIGINT", 2, "copy-on-write")
    def reasonOf(condition: String): String =
      errorOf(sql(s"ALTER TABLE $t ADD CONSTRAINT c CHECK ($condition)")).asInstanceOf[InvalidArgument].reason
    Seq("true", "1 > 0", "'n' > 'a'").foreach { condition =>
      assert(reasonOf(condition) == "It must use a column of the table", condition)
    }
    withConf("spark.sql.ansi.enabled" -> "true", "spark.sql.ansi.doubleQuotedIdentifiers" -> "true") {
      assert(reasonOf("\"n\" > 0").contains("backticks"))
      sql(s"ALTER TABLE $t ADD CONSTRAINT c CHECK (`n` > 0)")
    }
    assertViolated(t, "c", "n = 0")(sql(s"INSERT INTO $t VALUES (0)"))
  }

  test("a condition with a backslash is rejected in a session that reads backslashes as part of strings") {
    val t = create("s STRING", 2, "copy-on-write")
    withConf("spark.sql.parser.escapedStringLiterals" -> "true") {
      val error = errorOf(sql(s"ALTER TABLE $t ADD CONSTRAINT c CHECK (s RLIKE '^\\d+$$')"))
      assert(error.asInstanceOf[InvalidArgument].reason.contains("escapedStringLiterals"))
    }
    sql(s"ALTER TABLE $t ADD CONSTRAINT c CHECK (s RLIKE '^\\\\d+$$')")
    withConf("spark.sql.parser.escapedStringLiterals" -> "true") {
      sql(s"INSERT INTO $t VALUES ('12')")
      assertViolated(t, "c", "s = ab")(sql(s"INSERT INTO $t VALUES ('ab')"))
    }
  }

  test("a condition that is nested too deeply for the parser is rejected as an invalid argument") {
    val columns = Seq(AttributeReference("n", LongType)())
    val nested = CheckConstraint("deep", "- " * 200000 + "n > 0")
    val error = intercept[InvalidArgument](ConstraintExpression.resolve(nested, columns, "t"))
    assert(error.name == "CHECK constraint deep of t")
  }

  test("a row satisfies a condition if Spark evaluates the condition to true or null", Slow) {
    val values =
      "VALUES (NULL, NULL, NULL), (1, 'a', DATE '2024-01-01'), (-1, 'B', DATE '1969-12-31'), (7, '', NULL) " +
        "AS v(i, s, d)"
    val conditions = Seq(
      "i > 0",
      "NOT (i > 0) OR s = 'a'",
      "s IS NOT NULL",
      "length(s) > 0",
      "s RLIKE '^[a-z]*$'",
      "s LIKE 'a%' ESCAPE '!'",
      "i BETWEEN -1 AND 1",
      "i IN (1, 7)",
      "year(d) >= 1970",
      "coalesce(i, 5) = 5",
      "i % 2 <=> 1",
      "CASE WHEN i > 0 THEN s <> '' ELSE NULL END",
      "exists(array(i, 1), x -> x < 0)",
      "try_add(i, 1) = 2",
      "left(s, 1) = 'a'",
      "nullif(s, 'a') IS NULL",
      "date_trunc('MONTH', d) = d"
    )
    conditions.foreach { condition =>
      val t = create("i INT, s STRING, d DATE", 2, "copy-on-write")
      sql(s"ALTER TABLE $t ADD CONSTRAINT c CHECK ($condition)")
      rows(s"SELECT i, s, d, NOT (($condition) <=> false) FROM $values").foreach { row =>
        val isAllowed = row.getBoolean(3)
        val frame =
          spark.createDataFrame(java.util.Arrays.asList(row), spark.sql(s"SELECT *, true AS b FROM $values").schema)
            .drop("b")
        val isWritten = scala.util.Try(frame.writeTo(t).append())
        assert(isWritten.isSuccess == isAllowed, s"$condition for $row: $isWritten")
      }
    }
  }
}
