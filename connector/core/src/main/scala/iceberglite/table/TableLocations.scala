package iceberglite.table

import iceberglite.spec.{TableMetadata, TableProperty}

/** Where a table's files go. */
object TableLocations {

  /** The directory of metadata files, manifests and manifest lists. */
  def metadata(table: TableMetadata): String =
    TableProperty.of(TableProperty.MetadataPath, table.properties).getOrElse(inside(table.location, "metadata"))

  def inside(location: String, name: String): String = s"${location.stripSuffix("/")}/$name"
}
