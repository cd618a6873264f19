package iceberglite.spark.conf

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.property.Declarations

/**
 * The options of upserts. An upsert is a write that replaces existing rows with the same keys. A batch upsert does not
 * read the table.
 */
object UpsertOptions {
  private val declared = new Declarations[SparkOption[_]]

  val Upsert: SparkOption[Boolean] = declared(SparkOption.flag(
    "upsert",
    "Whether each row replaces the rows with the same key; a batch uses equality deletes and does not read the table",
    default = false
  ))

  val Keys: SparkOption[Seq[String]] = declared(SparkOption.derived[Seq[String]](
    "upsert-keys",
    "It must be a comma-separated list of column names",
    "Key columns of an upsert",
    "the table's identifier fields"
  )(text => Some(text.split(',').map(_.trim).toSeq).filter(_.forall(_.nonEmpty))))

  val DeleteColumn: SparkOption[String] = declared(SparkOption.name(
    "upsert-delete-column",
    "It must be the name of a column of the rows",
    "Boolean column of the rows, but not of the table. A row with the value true only deletes the rows with its key. " +
      "The table property write.spark.accept-any-schema must be true, except for streams",
    "none"
  ))

  /** All options, in the order of the documentation. */
  val all: Seq[SparkOption[_]] = declared.all

  /**
   * Whether a write is an upsert. A write with the option for key columns or for a delete column is always an upsert.
   *
   * @throws InvalidArgument if the options contradict each other
   */
  def isRequested(settings: Settings): Boolean = {
    val requested = Upsert.get(settings)
    val impliedBy = Seq(Keys, DeleteColumn).find(_.get(settings).isDefined)
    impliedBy.filter(_ => requested.contains(false)).foreach { option =>
      throw InvalidArgument(
        s"option ${Upsert.key}",
        "false",
        s"The option ${option.key} applies only to upserts; remove it, or set ${Upsert.key} to true"
      )
    }
    requested.contains(true) || impliedBy.isDefined
  }
}
