package iceberglite.spark.conf

import iceberglite.catalog.SettingWarnings
import iceberglite.spec.property.{CheckConstraint, TableProperty}

/**
 * Checks the properties that a user sets on a table. A warning is logged for a property without effect whose prefix is
 * `write.`, `read.`, `commit.`, `history.`, `gc.` or `iceberg-lite.`. The property is stored, because another engine
 * may use it. Properties with other prefixes are not checked, because users may define them for their own purposes.
 */
object TablePropertyCheck {
  private val Prefixes = Seq("write.", "read.", "commit.", "history.", "gc.", "iceberg-lite.")
  private val DeletePrefix = "write.delete."

  /** Properties with an effect that are neither in [[TableProperty.all]] nor options of reads or writes. */
  private val others = Seq("engine.hive.enabled", "engine.hive.lock-enabled", "write.spark.accept-any-schema")

  /** The keys of the supported properties, except properties of single columns. */
  private[iceberglite] lazy val knownKeys: Set[String] = (TableProperty.all.map(_.key) ++ others ++
    (ReadOptions.all ++ WriteOptions.all).flatMap(_.property)).toSet

  /** Whether the connector supports a property. */
  private[iceberglite] def isKnown(key: String): Boolean = knownKeys(key) ||
    TableProperty.ColumnPrefixes.exists(key.startsWith) || CheckConstraint.isKey(key) ||
    key.startsWith(DeletePrefix) && knownKeys("write." + key.stripPrefix(DeletePrefix))

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
    if (isKnown(key)) None
    else if (ForeignOptions.table.find(key).isDefined) ForeignOptions.table.warning(key, value)
    else if (!Prefixes.exists(key.startsWith)) None
    else
      Some(
        s"The table property $key has no effect. There is no such property${SessionSettings.suggestion(key, knownKeys)}"
      )
}
