package iceberglite.spark.conf

import iceberglite.catalog.SettingWarnings
import iceberglite.spec.property.TableProperty
import iceberglite.table.KnownProperties

/**
 * Checks the properties that a user sets on a table. A warning is logged for a property without effect whose prefix is
 * `write.`, `read.`, `commit.`, `history.`, `gc.` or `iceberg-lite.`. The property is stored, because another engine
 * may use it. Of the properties with other prefixes, only those of [[ForeignOptions]] are checked, because users may
 * define the others for their own purposes.
 */
object TablePropertyCheck {

  /**
   * The reserved keys with which a table can be created, although their values are not used. `ALTER TABLE` rejects
   * these keys. The key `current-snapshot-id` is missing here, because `SHOW CREATE TABLE` prints it, and running the
   * printed statement must not log a warning.
   */
  private val computed = TableProperty.Reserved - "current-snapshot-id"

  private val Prefixes = Seq("write.", "read.", "commit.", "history.", "gc.", "iceberg-lite.")

  /**
   * Checks the properties.
   *
   * @param table the name of the table, for messages
   * @throws iceberglite.spec.IcebergError.Unsupported if an unsupported property that must not be ignored is set
   */
  def check(table: String, properties: Map[String, String], warnings: SettingWarnings): Unit =
    for ((key, value) <- properties.toVector.sorted; message <- warning(key, value))
      warnings.once(s"table property $key", s"$table: $message")

  private[iceberglite] def warning(key: String, value: String): Option[String] =
    if (KnownProperties.find(key).isDefined) None
    else if (ForeignOptions.table.find(key).isDefined) ForeignOptions.table.warning(key, value)
    else if (computed(key)) Some(
      s"The table property $key has no effect. The connector derives its value from other metadata of the table"
    )
    else if (!Prefixes.exists(key.startsWith)) None
    else Some(s"The table property $key has no effect. There is no such property${suggestion(key)}")

  private def suggestion(key: String): String = SessionSettings.suggestion(key, KnownProperties.all.map(_.key))
}
