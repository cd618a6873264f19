package iceberglite.spec

/** Where an operation failed. The text of a place is a part of the error's message. */
sealed trait Place extends Product with Serializable

object Place {

  /** A file or a directory. */
  final case class Path(path: String) extends Place {
    override def toString: String = path
  }

  /** The database of a JDBC catalog. */
  final case class CatalogDatabase(url: String) extends Place {
    override def toString: String = s"the catalog database $url"
  }

  final case class RestCatalog(url: String) extends Place {
    override def toString: String = s"the REST catalog $url"
  }

  final case class HiveMetastore(uri: String) extends Place {
    override def toString: String = s"the Hive Metastore $uri"
  }

  /** A server that is not a catalog, such as one that issues tokens. */
  final case class Server(url: String) extends Place {
    override def toString: String = url
  }

  /** A table or a view of a catalog. */
  final case class CatalogObject(name: String) extends Place {
    override def toString: String = name
  }

  /** The place where a write to a table failed, with the name of the table. */
  final case class OfTable(place: Place, table: String) extends Place {
    override def toString: String = s"$place of table $table"
  }
}
