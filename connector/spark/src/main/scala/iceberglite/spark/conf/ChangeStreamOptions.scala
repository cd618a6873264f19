package iceberglite.spark.conf

import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}
import iceberglite.spec.property.Declarations

/** The options of streams of changes that select how the rows of commits are returned. */
object ChangeStreamOptions {
  private val declared = new Declarations[SparkOption[_]]

  val ComputeUpdates: SparkOption[Boolean] = declared(SparkOption.derived[Boolean](
    "compute-updates",
    "It must be true or false",
    "Whether a stream of changes omits rows that were only rewritten, and recognizes updates by identifier columns",
    "true if `identifier-columns` is set"
  )(SparkOption.boolean))

  val IdentifierColumns: SparkOption[String] = declared(SparkOption.name(
    "identifier-columns",
    "It must be a list of column names, separated by commas",
    "Columns that identify a row of a stream of changes, separated by commas",
    "the identifier fields of the table"
  ))

  val NetChanges: SparkOption[Boolean] = declared(SparkOption.flag(
    "net-changes",
    "Whether each micro-batch of a stream of changes has only the net changes of its commits",
    default = false
  ))

  /** All options, in the order of the documentation. */
  val all: Seq[SparkOption[_]] = declared.all

  /** Rejects the options for a read that does not stream changes. @throws Unsupported if an option is set */
  def rejectForOtherReads(options: CaseInsensitiveStringMap, table: String): Unit =
    all.find(option => options.containsKey(option.key)).foreach { option =>
      throw Unsupported(
        s"option ${option.key} for a read of $table that does not stream changes",
        s"Set ${StreamOptions.Changes.key}=true, or call create_changelog_view to read changes as a batch"
      )
    }
}

/** How a stream of changes returns the rows of its commits. */
sealed trait StreamedChanges extends Product with Serializable

object StreamedChanges {

  /** Each row that a commit deleted or inserted. */
  case object EachRow extends StreamedChanges

  /**
   * The changes of each commit, in which a deleted row and an inserted row with the same identifier are an update.
   *
   * @param identifiers the names of the identifier columns; absent for the identifier fields of the table
   */
  final case class Updates(identifiers: Option[Seq[String]]) extends StreamedChanges

  /** The net changes of the commits of each micro-batch. */
  case object Net extends StreamedChanges

  /** Reads the options. @throws InvalidArgument if a value is invalid, or if the options exclude each other */
  def of(options: CaseInsensitiveStringMap): StreamedChanges = {
    val settings = Settings(options, _ => None, Map.empty)
    val identifiers = ChangeStreamOptions.IdentifierColumns.get(settings)
      .map(_.split(',').toVector.map(_.trim).filter(_.nonEmpty))
    val isNet = settings(ChangeStreamOptions.NetChanges)
    if (!ChangeStreamOptions.ComputeUpdates.get(settings).getOrElse(identifiers.isDefined)) {
      if (isNet) Net else EachRow
    } else if (isNet) throw InvalidArgument(
      s"option ${ChangeStreamOptions.NetChanges}",
      "true",
      s"Net changes have no updates; remove this option, or set ${ChangeStreamOptions.ComputeUpdates} to false"
    )
    else Updates(identifiers)
  }
}
