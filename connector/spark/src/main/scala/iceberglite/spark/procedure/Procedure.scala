package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{DataType, StructField, StructType}

/**
 * A procedure, `CALL catalog.system.name(arguments)`. Each procedure has its own source file and is listed in
 * [[Procedures.all]]. The statement, its checks, the documentation and the Python function are derived from this trait.
 */
trait Procedure {
  def name: String

  /** Description of the effect in one sentence, for the documentation and the Python docstring. */
  def description: String

  /**
   * The parameters. One of them is [[Parameter.table]] or [[Parameter.view]]; required parameters come before optional
   * ones.
   */
  def parameters: Seq[Parameter[_]]

  /** The columns of the result, each with a comment. */
  def output: StructType

  /** Whether the result can have any number of rows; if false, it has exactly one row. */
  def manyRows: Boolean = false

  /** Whether the procedure creates the table that the argument `table` names. */
  def createsTable: Boolean = false

  /** Runs the procedure. @throws iceberglite.spec.IcebergError if the arguments are invalid, or if the change fails */
  def call(arguments: Arguments, context: ProcedureContext): Seq[Row]
}

object Procedure {

  /** The namespace of procedures in every iceberg-lite catalog. */
  val Namespace = "system"

  /** Returns a column of a result, with a comment. */
  private[iceberglite] def column(name: String, kind: DataType, doc: String, nullable: Boolean = false): StructField =
    StructField(name, kind, nullable).withComment(doc)
}
