package iceberglite.spark.constraint

import org.scalatest.Suite

import iceberglite.spark.error.{Causes, StatementError}
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.CheckViolated

/** Checks the errors of statements in tests of CHECK constraints and generated columns. */
trait ConstraintFixture extends StatementFixture { self: Suite =>

  /** Returns the first `IcebergError` among the causes of the exception that the body throws. */
  protected def errorOf(body: => Any): IcebergError = {
    val error = intercept[Exception](body)
    Causes.of(error).collectFirst { case e: IcebergError => e }.getOrElse(throw error)
  }

  /** Requires that a write changes nothing and fails with `CHECK_CONSTRAINT_VIOLATION` for the given row. */
  protected def assertViolated(t: String, constraint: String, row: String)(write: => Any): Unit = {
    val before = sorted(s"SELECT * FROM $t")
    val error = intercept[Exception](write)
    val causes = Causes.of(error).toVector
    val violated = causes.collectFirst { case e: CheckViolated => e }.getOrElse(throw error)
    assert(violated.constraint == constraint && violated.row == row)
    val conditions = causes.collect { case e: StatementError => (e.getErrorClass, e.getSqlState) }
    assert(conditions.headOption.contains(("ICEBERG_LITE.CHECK_CONSTRAINT_VIOLATION", "23001")))
    assert(sorted(s"SELECT * FROM $t") == before)
  }
}
