package iceberglite.sim

import iceberglite.spec.IcebergError
import iceberglite.table.TableVersion

/** The outcome of a transaction, as far as its writer knows it. */
sealed trait Outcome
object Outcome {

  /** The commit succeeded, and returned the new version of the table. */
  final case class Acknowledged(version: TableVersion) extends Outcome

  /** The commit failed, and the writer deleted its files as far as possible. */
  final case class Failed(error: IcebergError) extends Outcome

  /** The writer could not determine whether the commit succeeded. */
  final case class Unknown(error: Throwable) extends Outcome

  /** The writer died before it knew the outcome. */
  case object Died extends Outcome
}

/**
 * One transaction of a writer.
 *
 * @param base the table version that the writer used to plan the operation
 * @param began the step of the [[Schedule]] in which the writer started the operation
 * @param ended the step in which the operation ended for the writer, whether or not its outcome was known
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

/**
 * A load of the table by a writer.
 *
 * @param began the step of the [[Schedule]] in which the load started
 * @param ended the step in which the load returned
 * @param location path of the metadata file that the load returned
 */
final case class Read(writer: Int, began: Int, ended: Int, location: String)
