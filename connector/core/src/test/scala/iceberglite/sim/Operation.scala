package iceberglite.sim

import iceberglite.spec.IcebergError
import iceberglite.table.TableVersion

/** What a writer knows of a transaction of its. */
sealed trait Outcome
object Outcome {

  /** It happened: the table was handed back. */
  final case class Acknowledged(version: TableVersion) extends Outcome

  /** It did not happen, and the writer removed its files, as far as it could. */
  final case class Failed(error: IcebergError) extends Outcome

  /** Nobody knows. */
  final case class Unknown(error: Throwable) extends Outcome

  /** The writer died. */
  case object Died extends Outcome
}

/**
 * One transaction of a writer.
 *
 * @param base the table as the writer saw it
 * @param began the step in which the writer turned to it
 * @param ended the step in which its outcome was known to the writer
 */
final case class Operation(
    id: Int,
    writer: Int,
    work: String,
    base: TableVersion,
    plan: Option[Plan],
    outcome: Outcome,
    began: Int,
    ended: Int
) {
  override def toString: String = s"operation $id ($work by writer $writer, ${outcome.getClass.getSimpleName})"
}

/** A writer has loaded the table, between two steps. */
final case class Read(writer: Int, began: Int, ended: Int, location: String)
