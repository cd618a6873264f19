package iceberglite.spark.conf

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.property.Declarations
import iceberglite.table.action.RecordApplicationVersion

/** The options that let an application rerun a write without writing anything twice. */
object ApplicationOptions {
  private val declared = new Declarations[SparkOption[_]]

  val Id: SparkOption[String] = declared(SparkOption.name(
    "application-id",
    "It must be the name of an application",
    "Name of the application that writes; a version (application-version) that the table already has is not written " +
      "again",
    "none"
  ))

  val Version: SparkOption[Long] = declared(SparkOption.derived[Long](
    "application-version",
    "It must be 0 or more",
    "Version of the write; it increases with each write of the application",
    "none"
  )(SparkOption.long(_).filter(_ >= 0)))

  /** Aliases of the two options: their names in Delta Lake. */
  val DeltaId: SparkOption[String] =
    declared(SparkOption.name("txnAppId", Id.expected, "Alias of application-id, as in Delta Lake", "none"))

  val DeltaVersion: SparkOption[Long] = declared(SparkOption.derived[Long](
    "txnVersion",
    Version.expected,
    "Alias of application-version, as in Delta Lake",
    "none"
  )(SparkOption.long(_).filter(_ >= 0)))

  /** All options, in the order of the documentation. */
  val all: Seq[SparkOption[_]] = declared.all

  /**
   * Returns the application and the version of its write, if the options are set.
   *
   * @throws InvalidArgument if only one of the two options is set, or an option and its alias differ
   */
  def of(settings: Settings): Option[RecordApplicationVersion] =
    (valueOf(settings, Id, DeltaId), valueOf(settings, Version, DeltaVersion)) match {
      case (Some((option, "")), _) => throw InvalidArgument(s"option ${option.key}", "", option.expected)
      case (Some((_, id)), Some((_, version))) => Some(new RecordApplicationVersion(id, version))
      case (Some((option, id)), None) =>
        throw missing(option, id, other = if (option == Id) Version else DeltaVersion)
      case (None, Some((option, n))) =>
        throw missing(option, n.toString, other = if (option == Version) Id else DeltaId)
      case (None, None) => None
    }

  private def missing(option: SparkOption[_], value: String, other: SparkOption[_]): InvalidArgument =
    InvalidArgument(s"option ${option.key}", value, s"The option ${other.key} must be set too")

  /** Returns the value that is set, and the option or alias that sets it. */
  private def valueOf[A](
      settings: Settings,
      option: SparkOption[A],
      alias: SparkOption[A]
  ): Option[(SparkOption[A], A)] = {
    val values = Seq(option, alias).flatMap(o => o.get(settings).map(o -> _))
    if (values.map(_._2).distinct.size > 1) throw InvalidArgument(
      s"options ${option.key} and ${alias.key}",
      values.map(_._2).mkString(" and "),
      "They are aliases; set only one of them"
    )
    values.headOption
  }
}
