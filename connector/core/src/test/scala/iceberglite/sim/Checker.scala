package iceberglite.sim

/** A rule that every history of commits must satisfy. */
trait Check {
  def name: String

  /** Returns the violations of the rule. */
  def violations(history: CheckedHistory): Vector[String]
}

object Check {
  val all: Seq[Check] =
    Seq(LinearHistory, Outcomes, Numbers, ExpectedRows, CommittedReads, NoMissingOrOrphanFiles, ValidTrees)
}

/** A finished history, with data derived from it that several checks use. */
final class CheckedHistory(val finished: FinishedHistory) {
  val chain: Chain = Chain.of(finished)
  val reader = new SnapshotReader(finished.io, finished.contents)
  val operations: Map[Int, Operation] = finished.operations.map(o => o.id -> o).toMap

  /**
   * Maps each step (a version of the table with its predecessor) to the operation that committed the version, or to the
   * reason why the operation cannot be determined.
   */
  lazy val authors: Map[Step, Either[String, Operation]] =
    chain.steps.map(s => s -> Attribution.of(s, operations)).toMap

  def stepsOf(operation: Operation): Vector[Step] = chain.steps.filter(authors(_).right.exists(_.id == operation.id))
}

/** Checks a history against all rules. */
object Checker {

  /** Returns the violations of the first broken rule only. Violations of later rules may be its consequences. */
  def violations(finished: FinishedHistory, checks: Seq[Check] = Check.all): Vector[String] = {
    val history = new CheckedHistory(finished)
    checks.iterator.map(check => violationsOf(check, history)).find(_.nonEmpty).getOrElse(Vector.empty)
  }

  private def violationsOf(check: Check, history: CheckedHistory): Vector[String] =
    try check.violations(history).map(v => s"${check.name}: $v")
    catch { case e: RuntimeException => Vector(s"${check.name}: $e") }
}

/**
 * Finds the operation that committed the later version of a step. The number of an operation is in the summaries of its
 * snapshots, in the property [[MetadataWork.Marker]], or in the names that the operation creates.
 */
object Attribution {
  private val Numbered = """[a-z]_(\d+)""".r

  def of(step: Step, operations: Map[Int, Operation]): Either[String, Operation] = {
    val numbers = numbersIn(step).distinct
    numbers match {
      case Vector(number) => operations.get(number).toRight(s"belongs to operation $number, which does not exist")
      case Vector() => Left("belongs to no operation")
      case several => Left(s"belongs to several operations: ${several.mkString(", ")}")
    }
  }

  private def numbersIn(step: Step): Vector[Int] = {
    val (before, after) = (step.before.metadata, step.after.metadata)
    val bySnapshot = step.added.flatMap(_.summary.get(History.OperationKey)).map(_.toInt)
    val inMarker =
      after.properties.get(MetadataWork.Marker).filterNot(before.properties.get(MetadataWork.Marker).contains)
    val names = (after.properties.keySet -- before.properties.keySet) ++ (after.refs.keySet -- before.refs.keySet) ++
      (after.schema.fields.map(_.name).toSet -- before.schema.fields.map(_.name))
    // The summary and the marker take precedence over names, because an operation may recreate a branch whose name
    // contains the number of another operation.
    if (bySnapshot.nonEmpty) bySnapshot
    else inMarker.map(m => Vector(m.toInt)).getOrElse(names.toVector.collect { case Numbered(n) => n.toInt })
  }
}
