package iceberglite.table

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.TableProperty

/** Returns locations for a table's new files. */
object TableLocations {

  /** Returns the directory of metadata files, manifests and manifest lists. */
  def metadata(table: TableMetadata): String =
    TableProperty.of(TableProperty.MetadataPath, table.properties).getOrElse(inside(table.location, "metadata"))

  /** Returns the path of a file or directory in the directory `location`. */
  def inside(location: String, name: String): String = s"${location.stripSuffix("/")}/$name"
}
