package iceberglite.spark

import java.util

import scala.annotation.nowarn
import scala.collection.JavaConverters._

import org.apache.spark.sql.catalyst.analysis.{
  NoSuchFunctionException,
  NoSuchNamespaceException,
  NonEmptyNamespaceException,
  NoSuchTableException,
  TableAlreadyExistsException
}
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.catalog.CatalogProperty
import iceberglite.catalog.hive.HiveCatalog
import iceberglite.spark.catalog.Providers
import iceberglite.spark.session.{LiteCatalog, SharedTable}
import iceberglite.spark.table.UnstagedTable
import iceberglite.spec.IcebergError.Unsupported

/**
 * Spark's session catalog with iceberg-lite tables: `spark.sql.catalog.spark_catalog =
 * iceberglite.spark.SparkSessionCatalog`, with `type` and the other properties of the catalog for these tables; without
 * `type`, they are in the session's Hive Metastore. Tables created with `USING iceberg` are iceberg-lite tables; all
 * other tables, and the namespaces, are Spark's. A name belongs to one table of either kind.
 */
@nowarn("cat=deprecation") // Spark calls the newer forms, which pass on to these; every catalog has these
class SparkSessionCatalog extends LiteCatalog with CatalogExtension {
  private type Spark = TableCatalog with SupportsNamespaces with FunctionCatalog

  /** The catalog of iceberg-lite tables. Spark's catalog has the namespaces and does not support paths. */
  private val ours = new SparkCatalog { override protected def mayAllowPaths: Boolean = false }
  private var delegate: Option[Spark] = None

  private def sparks: Spark = delegate.getOrElse(throw new IllegalStateException("Spark has not set the delegate"))

  override def setDelegateCatalog(catalog: CatalogPlugin): Unit = catalog match {
    case c: TableCatalog with SupportsNamespaces with FunctionCatalog => delegate = Some(c)
    case other => throw new IllegalArgumentException(s"${other.getClass.getName} is not a session catalog")
  }

  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = {
    val given = options.asCaseSensitiveMap.asScala
    // By default, iceberg-lite tables are in the same place as Spark's own.
    val isSaid = Seq(CatalogProperty.Type, CatalogProperty.CatalogImpl).exists(_.in(given.toMap).isDefined)
    val all = if (isSaid) given else given + (CatalogProperty.Type.key -> HiveCatalog.catalogType)
    ours.initialize(name, new CaseInsensitiveStringMap(all.asJava))
  }

  override def name: String = ours.name

  override def liveTable(ident: Identifier): SharedTable =
    try ours.liveTable(ident)
    catch {
      case _: NoSuchTableException if isSparks(ident) =>
        val table = (name +: ident.namespace :+ ident.name).mkString(".")
        throw Unsupported(
          s"this statement for $table",
          "It is not an Iceberg table; create Iceberg tables with USING iceberg"
        )
    }

  override def registerTable(ident: Identifier, metadataFile: String): iceberglite.table.Table = {
    if (!namespaceExists(ident.namespace)) throw new NoSuchNamespaceException(ident.namespace)
    if (tableExists(ident)) throw new TableAlreadyExistsException(ident)
    ours.registerTable(ident, metadataFile)
  }

  override def allowsPaths: Boolean = ours.allowsPaths

  override def rejection(ident: Identifier): Option[String] = ours.rejection(ident)

  override def nearName(ident: Identifier): Option[String] = ours.nearName(ident)

  override def capabilities: util.Set[TableCatalogCapability] = sparks.capabilities

  // Tables

  override def listTables(namespace: Array[String]): Array[Identifier] = {
    val mine =
      try ours.listTables(namespace)
      catch { case _: NoSuchNamespaceException => Array.empty[Identifier] }
    (sparks.listTables(namespace) ++ mine).distinct
  }

  override def tableExists(ident: Identifier): Boolean = isOurs(ident) || isSparks(ident)

  override def loadTable(ident: Identifier): Table = oursOr(ident)(ours.loadTable(_))(sparks.loadTable(_))

  override def loadTable(ident: Identifier, version: String): Table =
    oursOr(ident)(ours.loadTable(_, version))(sparks.loadTable(_, version))

  override def loadTable(ident: Identifier, timestamp: Long): Table =
    oursOr(ident)(ours.loadTable(_, timestamp))(sparks.loadTable(_, timestamp))

  override def invalidateTable(ident: Identifier): Unit = {
    ours.invalidateTable(ident)
    sparks.invalidateTable(ident)
  }

  override def alterTable(ident: Identifier, changes: TableChange*): Table =
    (if (isOurs(ident)) ours else sparks).alterTable(ident, changes: _*)

  override def dropTable(ident: Identifier): Boolean = (if (isOurs(ident)) ours else sparks).dropTable(ident)

  override def purgeTable(ident: Identifier): Boolean = (if (isOurs(ident)) ours else sparks).purgeTable(ident)

  override def renameTable(from: Identifier, to: Identifier): Unit = {
    if (tableExists(to)) throw new TableAlreadyExistsException(to)
    (if (isOurs(from)) ours else sparks).renameTable(from, to)
  }

  override def createTable(
      ident: Identifier,
      schema: StructType,
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): Table = {
    checkFree(ident, properties)
    (if (asksForOurs(properties)) ours else sparks).createTable(ident, schema, partitions, properties)
  }

  // Staged tables

  override def stageCreate(
      ident: Identifier,
      schema: StructType,
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): StagedTable = {
    checkFree(ident, properties)
    stagingIn(properties)(_.stageCreate(ident, schema, partitions, properties)) {
      UnstagedTable.create(sparks, ident, schema, partitions, properties)
    }
  }

  override def stageReplace(
      ident: Identifier,
      schema: StructType,
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): StagedTable = {
    checkNotOther(ident, properties)
    stagingIn(properties)(_.stageReplace(ident, schema, partitions, properties)) {
      if (!sparks.dropTable(ident)) throw new NoSuchTableException(ident)
      UnstagedTable.create(sparks, ident, schema, partitions, properties)
    }
  }

  override def stageCreateOrReplace(
      ident: Identifier,
      schema: StructType,
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): StagedTable = {
    checkNotOther(ident, properties)
    stagingIn(properties)(_.stageCreateOrReplace(ident, schema, partitions, properties)) {
      sparks.dropTable(ident)
      UnstagedTable.create(sparks, ident, schema, partitions, properties)
    }
  }

  /**
   * Stages a table in Spark's catalog, which does not support staging: a failed query leaves no table, and a replaced
   * table is lost, as without the connector.
   */
  private def stagingIn(properties: util.Map[String, String])(
      stage: StagingTableCatalog => StagedTable
  )(unstaged: => StagedTable): StagedTable =
    if (asksForOurs(properties)) stage(ours)
    else sparks match {
      case staging: StagingTableCatalog => stage(staging)
      case _ => unstaged
    }

  // Namespaces belong to Spark

  override def defaultNamespace: Array[String] = sparks.defaultNamespace
  override def listNamespaces(): Array[Array[String]] = sparks.listNamespaces()
  override def listNamespaces(namespace: Array[String]): Array[Array[String]] = sparks.listNamespaces(namespace)
  override def namespaceExists(namespace: Array[String]): Boolean = sparks.namespaceExists(namespace)

  override def loadNamespaceMetadata(namespace: Array[String]): util.Map[String, String] =
    sparks.loadNamespaceMetadata(namespace)

  override def createNamespace(namespace: Array[String], properties: util.Map[String, String]): Unit =
    sparks.createNamespace(namespace, properties)

  override def alterNamespace(namespace: Array[String], changes: NamespaceChange*): Unit =
    sparks.alterNamespace(namespace, changes: _*)

  /** Drops a namespace. Spark's catalog does not know the iceberg-lite tables in it. */
  override def dropNamespace(namespace: Array[String], cascade: Boolean): Boolean = {
    if (ours.namespaceExists(namespace) && ours.listTables(namespace).nonEmpty) {
      throw new NonEmptyNamespaceException(namespace)
    }
    sparks.dropNamespace(namespace, cascade)
  }

  // Functions: the partition transforms of iceberg-lite tables, and Spark's

  override def listFunctions(namespace: Array[String]): Array[Identifier] = sparks.listFunctions(namespace)

  override def loadFunction(ident: Identifier): UnboundFunction =
    try ours.loadFunction(ident)
    catch { case _: NoSuchFunctionException => sparks.loadFunction(ident) }

  private def isOurs(ident: Identifier): Boolean = ours.tableExists(ident)

  /**
   * Whether a table is Spark's, whose catalog has namespaces of one level only and throws for others. An outage of the
   * Metastore is an error, and does not mean that the name is free.
   */
  private def isSparks(ident: Identifier): Boolean = ident.namespace.length == 1 && sparks.tableExists(ident)

  private def oursOr(ident: Identifier)(mine: Identifier => Table)(theirs: Identifier => Table): Table =
    try mine(ident)
    catch {
      case missing: NoSuchTableException => if (ident.namespace.length == 1) theirs(ident) else throw missing
      case _: NoSuchNamespaceException => theirs(ident)
    }

  private def asksForOurs(properties: util.Map[String, String]): Boolean =
    properties.asScala.get(TableCatalog.PROP_PROVIDER).exists(SparkSessionCatalog.providers.contains)

  private def checkFree(ident: Identifier, properties: util.Map[String, String]): Unit = {
    if (asksForOurs(properties) && !namespaceExists(ident.namespace)) {
      throw new NoSuchNamespaceException(ident.namespace)
    }
    if (tableExists(ident)) throw new TableAlreadyExistsException(ident)
  }

  /** Checks that a table of one kind does not replace a table of the other. */
  private def checkNotOther(ident: Identifier, properties: util.Map[String, String]): Unit =
    if (if (asksForOurs(properties)) isSparks(ident) && !isOurs(ident) else isOurs(ident)) {
      throw new TableAlreadyExistsException(ident)
    }
}

object SparkSessionCatalog {
  private val providers: Set[String] = Set(Providers.Iceberg, Providers.IcebergLite)
}
