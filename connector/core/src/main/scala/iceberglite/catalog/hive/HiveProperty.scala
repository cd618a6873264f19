package iceberglite.catalog.hive

import scala.util.Try

import iceberglite.catalog.CatalogProperty
import iceberglite.spec.IcebergError.InvalidArgument

/** The properties of a Hive catalog, besides those that other catalogs have too. */
object HiveProperty {
  val ListAll: CatalogProperty = CatalogProperty(
    "list-all-tables",
    Some("false"),
    "Whether a Hive catalog also lists tables of its databases that are not Iceberg tables"
  )
  val IdleMs: CatalogProperty = CatalogProperty(
    "client.pool.cache.eviction-interval-ms",
    Some("300000"),
    "How long a Hive catalog keeps a connection to the Metastore that nobody uses"
  )

  val all: Seq[CatalogProperty] = Seq(ListAll, IdleMs)

  private[catalog] def listAll(catalog: String, properties: Map[String, String]): Boolean =
    parsed(catalog, ListAll, properties, "It must be true or false")(text => Try(text.toBoolean).toOption)

  private[catalog] def idleMs(catalog: String, properties: Map[String, String]): Long =
    parsed(catalog, IdleMs, properties, "It must be a number of milliseconds")(text => Try(text.toLong).toOption)

  private def parsed[A](catalog: String, property: CatalogProperty, properties: Map[String, String], expected: String)(
      parse: String => Option[A]
  ): A = {
    val text = property.in(properties).orElse(property.default).getOrElse("")
    parse(text).getOrElse(throw InvalidArgument(s"${property.key} of catalog $catalog", text, expected))
  }
}
