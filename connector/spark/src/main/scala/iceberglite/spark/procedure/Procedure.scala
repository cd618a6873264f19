package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{DataType, StructField, StructType}

/**
 * What `CALL catalog.system.name(arguments)` does. Open by design: a procedure is one file and one line in
 * [[Procedures.all]]; the statement, its checks, the documentation and the Python function come from what is here.
 */
trait Procedure {
  def name: String

  /** What it does, in one sentence, for the documentation. */
  def description: String

  /** The first is the table's name; required ones come before optional ones. */
  def parameters: Seq[Parameter[_]]

  /** The columns of its result, each with a comment. */
  def output: StructType

  /** Whether its result has any number of rows rather than one. */
  def manyRows: Boolean = false

  /** Whether the table is made by the procedure, rather than there before. */
  def makesTable: Boolean = false

  /** @throws iceberglite.spec.IcebergError for what cannot be done */
  def call(arguments: Arguments, place: Place): Seq[Row]
}

object Procedure {

  /** The namespace of all procedures, in every catalog of ours. */
  val Namespace = "system"

  private[procedure] def column(name: String, kind: DataType, doc: String, nullable: Boolean = false): StructField =
    StructField(name, kind, nullable).withComment(doc)
}
