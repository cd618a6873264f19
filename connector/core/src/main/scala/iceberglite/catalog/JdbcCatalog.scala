package iceberglite.catalog

import java.sql.SQLException

import scala.annotation.tailrec
import scala.util.control.NonFatal
import scala.util.{Failure, Success, Try}

import iceberglite.io.{FileIO, MetadataCodec, MetadataFiles}
import iceberglite.maintenance.PurgeTable
import iceberglite.spec.IcebergError._
import iceberglite.spec.{IcebergError, TableMetadata, TableProperty}
import iceberglite.table._

/**
 * Tables whose newest metadata file a row of a database names (spec: "Metastore Tables"), in the layout that
 * PyIceberg's SqlCatalog and Apache Iceberg's JdbcCatalog share. A commit is the update of that row.
 *
 * @param warehouse where tables go that do not say where
 */
final class JdbcCatalog private (
    val name: String,
    val properties: Map[String, String],
    warehouse: String,
    val io: FileIO,
    protected val environment: Environment,
    session: JdbcSession,
    rows: JdbcRows
) extends Catalog {

  override def listNamespaces(parent: Vector[String]): Vector[Vector[String]] = {
    val all = asking("list namespaces")(rows.namespaces()).map(JdbcCatalog.levels)
    if (parent.nonEmpty && !all.exists(_.startsWith(parent))) throw noNamespace(parent)
    all.filter(n => n.size > parent.size && n.startsWith(parent)).map(_.take(parent.size + 1)).distinct.sortBy(_.last)
  }

  override def namespaceExists(namespace: Vector[String]): Boolean = namespace.isEmpty ||
    asking("look for a namespace")(rows.namespaces()).map(JdbcCatalog.levels).exists(_.startsWith(namespace))

  override def loadNamespace(namespace: Vector[String]): Map[String, String] = {
    requireNamespace(namespace)
    val kept = asking("read namespace properties")(rows.properties(text(namespace)))
    Map("location" -> locationOf(namespace)) ++ (kept - JdbcCatalog.Exists._1)
  }

  override def createNamespace(namespace: Vector[String], properties: Map[String, String]): Unit = {
    if (namespaceExists(namespace)) {
      throw AlreadyExists("namespace", fullName(namespace), "Use it as it is, or choose another name")
    }
    changing("create a namespace") {
      rows.setProperties(text(namespace), properties + JdbcCatalog.Exists, Set.empty)
    }
  }

  override def alterNamespace(namespace: Vector[String], set: Map[String, String], remove: Set[String]): Unit = {
    requireNamespace(namespace)
    changing("change a namespace")(rows.setProperties(text(namespace), set, remove))
  }

  override def dropNamespace(namespace: Vector[String]): Boolean =
    if (namespace.isEmpty || !namespaceExists(namespace)) false
    else {
      val inside = listTables(namespace).map(_.name) ++ listNamespaces(namespace).map(_.last)
      if (inside.nonEmpty) {
        throw ValidationFailed(
          s"Cannot drop namespace ${fullName(namespace)}: it is not empty. It holds ${inside.sorted.mkString(", ")}"
        )
      }
      changing("drop a namespace")(rows.deleteProperties(text(namespace)))
      true
    }

  override def listTables(namespace: Vector[String]): Vector[TableIdentifier] = {
    requireNamespace(namespace)
    asking("list tables")(rows.tables(text(namespace))).map(TableIdentifier(namespace, _))
  }

  override def tableExists(id: TableIdentifier): Boolean = location(id).isDefined

  override def load(id: TableIdentifier): TableVersion =
    loadIfExists(id).getOrElse(throw noTable(id))

  override protected def loadIfExists(id: TableIdentifier): Option[TableVersion] = loadAt(id, location(id))

  /** A file that is gone may have been the newest a moment ago: then the row names another by now. */
  @tailrec
  private def loadAt(id: TableIdentifier, path: Option[String]): Option[TableVersion] =
    path.map(p => p -> Try(MetadataFiles.read(io, p))) match {
      case None => None
      case Some((p, Success(metadata))) => Some(TableVersion(metadata, p))
      case Some((_, Failure(failure))) =>
        val now = location(id)
        if (now == path) throw failure
        loadAt(id, now)
    }

  override def drop(id: TableIdentifier, purge: Boolean): Boolean = {
    val purged = if (purge) loadIfExists(id) else None
    purged.foreach(PurgeTable.refuseWithoutGc(fullName(id), _))
    val dropped = changing("drop a table")(rows.delete(text(id.namespace), id.name)) > 0
    if (dropped) purged.foreach(PurgeTable(io, fullName(id), _))
    dropped
  }

  override def rename(from: TableIdentifier, to: TableIdentifier): Unit = {
    requireNamespace(to.namespace)
    def taken = AlreadyExists("table", fullName(to), "Drop it first or choose another name")
    val renamed = changing("rename a table") {
      try rows.rename(text(from.namespace), from.name, text(to.namespace), to.name)
      catch { case e: SQLException if JdbcRows.isDuplicate(e) => throw taken }
    }
    if (renamed == 0) throw noTable(from)
  }

  override def register(id: TableIdentifier, metadataFile: String): Table = {
    MetadataFiles.read(io, metadataFile)
    requireIfStrict(id.namespace)
    changing("register a table") {
      try rows.insert(text(id.namespace), id.name, metadataFile)
      catch {
        case e: SQLException if JdbcRows.isDuplicate(e) =>
          throw AlreadyExists("table", fullName(id), "Drop it first or choose another name")
      }
    }
    table(id)
  }

  override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion = {
    if (base.isEmpty) requireIfStrict(id.namespace)
    val next = NextVersion.of(fullName(id), base, change, environment.nowMs())
    val version = TableVersion(next.metadata, nextFile(base, next.metadata))
    val contents = MetadataFiles.bytes(next.metadata, codecOf(next.metadata))
    try Warehouse.using(warehouse)(io.write(version.metadataLocation, contents))
    catch {
      case failure: Throwable =>
        Cleanup.delete(io, Vector(version.metadataLocation))
        throw failure
    }
    publish(id, base, version, firstTry = true)
    Cleanup.delete(io, next.expired)
    version
  }

  override def defaultLocation(id: TableIdentifier): String = {
    val explicit = asking("read namespace properties")(rows.properties(text(id.namespace))).get("location")
    TableLocations.inside(explicit.getOrElse(locationOf(id.namespace)), id.name)
  }

  override def close(): Unit = session.close()

  private def nextFile(base: Option[TableVersion], next: TableMetadata): String = {
    val version = base.fold(0)(b => MetadataFiles.version(b.metadataLocation).fold(0)(_ + 1))
    TableLocations.inside(
      TableLocations.metadata(next),
      MetadataFiles.fileName(version, environment.uuid(), codecOf(next))
    )
  }

  private def codecOf(metadata: TableMetadata): MetadataCodec =
    MetadataCodec.of(TableProperty.of(TableProperty.MetadataCodec, metadata.properties))

  /** The swap. Whatever the database says or fails to say, it ends in success, a definite failure, or a clear doubt. */
  private def publish(id: TableIdentifier, base: Option[TableVersion], next: TableVersion, firstTry: Boolean): Unit = {
    def lost(reason: String): IcebergError = {
      Cleanup.delete(io, Vector(next.metadataLocation))
      CommitConflict(fullName(id), reason)
    }
    try {
      val done = base.fold(rows.insert(text(id.namespace), id.name, next.metadataLocation))(b =>
        rows.swap(text(id.namespace), id.name, b.metadataLocation, next.metadataLocation)
      )
      if (done == 0 && !happened(id, base, next, sure = firstTry)) throw lost("the catalog points elsewhere by now")
    } catch {
      case busy: SQLException if JdbcRows.isBusy(busy) => throw lost(s"the database is busy (${busy.getMessage})")
      case taken: SQLException if base.isEmpty && JdbcRows.isDuplicate(taken) =>
        if (!happened(id, base, next, sure = firstTry)) throw lost("a table of this name was created at the same time")
      case answer: SQLException =>
        Cleanup.delete(io, Vector(next.metadataLocation))
        throw session.failed(s"commit ${fullName(id)}", answer)
      // Once more: the database takes it if it did not before, and says whose metadata it has if it did.
      case _: LostConnection if firstTry => publish(id, base, next, firstTry = false)
      case known: IcebergError => if (firstTry) throw known else throw asUnknown(known, id, next)
      case other: Throwable => throw unknown(id, next, other)
    }
  }

  /** After a first try of unknown outcome, only a conflict that was looked into is certain. */
  private def asUnknown(error: IcebergError, id: TableIdentifier, next: TableVersion): IcebergError = error match {
    case certain @ (_: CommitConflict | _: CommitStateUnknown) => certain
    case other => unknown(id, next, other)
  }

  /**
   * Whether the swap was done though the answer does not say so: the pointer is where we put it, or somebody has gone
   * on from there. Who went on from `base` instead proves that it was not.
   *
   * @param sure no earlier try can have been done
   */
  private def happened(id: TableIdentifier, base: Option[TableVersion], next: TableVersion, sure: Boolean): Boolean =
    try {
      val now = session.asking("look at a table")(rows.location(text(id.namespace), id.name))
      now.contains(next.metadataLocation) || !sure && now.exists { path =>
        val log = MetadataFiles.read(io, path).metadataLog.map(_.metadataFile)
        val ours = log.contains(next.metadataLocation)
        if (!ours && base.exists(b => path != b.metadataLocation && !log.contains(b.metadataLocation))) {
          throw unknown(id, next, new IllegalStateException(s"the catalog points to $path"))
        }
        ours
      }
    } catch {
      case known: CommitStateUnknown => throw known
      case NonFatal(e) => throw unknown(id, next, e)
    }

  private def unknown(id: TableIdentifier, next: TableVersion, cause: Throwable): CommitStateUnknown =
    CommitStateUnknown(fullName(id), next.metadataLocation, String.valueOf(cause.getMessage), Some(cause))

  private def location(id: TableIdentifier): Option[String] =
    asking("look for a table")(rows.location(text(id.namespace), id.name))

  private def asking[A](what: String)(body: => A): A = session.asking(what)(body)

  /** Changes that are simply said to have failed when they fail. */
  private def changing[A](what: String)(body: => A): A =
    try body
    catch { case failure @ (_: SQLException | _: LostConnection) => throw session.failed(what, failure) }

  private def requireIfStrict(namespace: Vector[String]): Unit =
    if (CatalogProperty.JdbcStrictMode.in(properties).exists(_.toBoolean)) requireNamespace(namespace)

  private def requireNamespace(namespace: Vector[String]): Unit =
    if (!namespaceExists(namespace)) throw noNamespace(namespace)

  private def noTable(id: TableIdentifier): NotFound =
    NotFound("table", fullName(id), s"SHOW TABLES lists those of ${fullName(id.namespace)}")

  private def noNamespace(namespace: Vector[String]): NotFound =
    NotFound("namespace", fullName(namespace), "SHOW NAMESPACES lists those there are")

  private def locationOf(namespace: Vector[String]): String = namespace.foldLeft(warehouse)(TableLocations.inside)

  private def text(namespace: Vector[String]): String = {
    namespace.find(level => level.isEmpty || level.contains(".")).foreach { level =>
      throw InvalidArgument("namespace", s"'$level'", "In a JDBC catalog a level is not empty and has no dot in it")
    }
    namespace.mkString(".")
  }

  private def fullName(namespace: Vector[String]): String = (name +: namespace).mkString(".")
}

object JdbcCatalog extends CatalogFamily {
  override val catalogType: String = "jdbc"

  /** What a namespace without properties has, so that there is a row for it. */
  private val Exists: (String, String) = "exists" -> "true"

  override def open(
      name: String,
      properties: Map[String, String],
      io: FileIO,
      environment: Environment
  ): Catalog = {
    val uri = CatalogProperty.Uri.require(name, properties, "jdbc:sqlite:/data/catalog.db")
    if (!uri.startsWith("jdbc:")) {
      throw InvalidArgument(s"uri of catalog $name", uri, "A JDBC catalog needs a URL that begins with jdbc:")
    }
    val warehouse = CatalogProperty.Warehouse.require(name, properties, "file:///data/warehouse")
    val ours = Set(CatalogProperty.JdbcSchemaVersion, CatalogProperty.JdbcStrictMode, CatalogProperty.JdbcInitTables)
    val session = new JdbcSession(uri, CatalogProperty.Jdbc.in(properties -- ours.map(_.key)))
    val rows = new JdbcRows(session, name, properties)
    new JdbcCatalog(name, properties, Warehouse.of(warehouse), io, environment, session, rows)
  }

  private def levels(namespace: String): Vector[String] =
    if (namespace.isEmpty) Vector.empty else namespace.split('.').toVector
}
