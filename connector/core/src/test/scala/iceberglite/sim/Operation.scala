package iceberglite.sim

import iceberglite.spec.IcebergError
import iceberglite.table.TableVersion

/** The outcome of a transaction as known by its writer. */
sealed trait Outcome
object Outcome {

  /** The commit happened: the table was returned. */
  final case class Acknowledged(version: TableVersion) extends Outcome

  /** The commit did not happen, and the writer removed its files as far as possible. */
  final case class Failed(error: IcebergError) extends Outcome

  /** The outcome is unknown. */
  final case class Unknown(error: Throwable) extends Outcome

  /** The writer died. */
  case object Died extends Outcome
}

/**
 * One transaction of a writer.
 *
 * @param base the version on which the writer planned the operation
 * @param began the step in which the writer started
 * @param ended the step in which the writer knew the outcome
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

/** A load of the table by a writer, between two steps. */
final case class Read(writer: Int, began: Int, ended: Int, location: String)
