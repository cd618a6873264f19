package iceberglite.spark.conf

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.table.action.RecordApplication

/** The settings by which an application that is run again writes nothing twice. */
object ApplicationOptions {
  val Id: SparkOption[String] = SparkOption.name(
    "application-id",
    "It must be the name of an application",
    "The application that writes; with application-version, a version that the table has of it is not written again",
    "none"
  )

  val Version: SparkOption[Long] = SparkOption.derived[Long](
    "application-version",
    "It must be a number from 0 on",
    "Which write of the application it is; it grows from one to the next",
    "none"
  )(SparkOption.long(_).filter(_ >= 0))

  /** In the order of the documentation. */
  val all: Seq[SparkOption[_]] = Seq(Id, Version)

  /** @throws InvalidArgument where only one of the two is given */
  def of(settings: Settings): Option[RecordApplication] = (Id.given(settings), Version.given(settings)) match {
    case (Some(id), Some(version)) if id.nonEmpty => Some(new RecordApplication(id, version))
    case (Some(""), _) => throw InvalidArgument(s"option ${Id.key}", "", Id.expected)
    case (Some(id), None) => throw InvalidArgument(s"option ${Id.key}", id, s"It needs ${Version.key} beside it")
    case (None, Some(n)) =>
      throw InvalidArgument(s"option ${Version.key}", n.toString, s"It needs ${Id.key} beside it")
    case (None, None) => None
  }
}
