package iceberglite.catalog.hive

import iceberglite.catalog.CatalogProperty
import iceberglite.spec.property.Declarations

/** The properties that only a Hive catalog has. */
object HiveProperty {
  private val declared = new Declarations[CatalogProperty]

  val ListAll: CatalogProperty = declared(CatalogProperty(
    "list-all-tables",
    Some("false"),
    "Whether a Hive catalog also lists views and tables of other formats as tables"
  ))
  val IdleMs: CatalogProperty = declared(CatalogProperty(
    "client.pool.cache.eviction-interval-ms",
    Some("300000"),
    "Time after which a Hive catalog closes an idle connection to the Metastore"
  ))

  val all: Seq[CatalogProperty] = declared.all
}
