package iceberglite.spark

import java.util
import java.util.Locale

import scala.annotation.nowarn
import scala.collection.JavaConverters._

import org.apache.spark.sql.catalyst.analysis.{
  NoSuchFunctionException,
  NoSuchNamespaceException,
  NonEmptyNamespaceException,
  NoSuchTableException,
  TableAlreadyExistsException
}
import org.apache.spark.sql.catalyst.util.GeneratedColumn
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.catalog.{CatalogProperty, ViewCatalog}
import iceberglite.catalog.hive.HiveCatalog
import iceberglite.spark.catalog.Providers
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.session.{ColumnDefinitionCatalog, LiteCatalog, SharedTable}
import iceberglite.spark.table.UnstagedTable
import iceberglite.spark.view.{SessionViews, ViewName}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.table.{TableCreation, TableIdentifier}

/**
 * Spark's session catalog with additional iceberg-lite tables. It is configured with `spark.sql.catalog.spark_catalog =
 * iceberglite.spark.SparkSessionCatalog`. The property `type` and the other properties of this catalog type define the
 * catalog of the iceberg-lite tables. Without `type` and `catalog-impl`, these tables are in the session's Hive
 * Metastore. Tables created with `USING iceberg` are iceberg-lite tables, and new views are Iceberg views. Spark's own
 * session catalog manages all other tables and views, and the namespaces. A name cannot refer to both an iceberg-lite
 * table and another table.
 */
@nowarn("cat=deprecation") // Spark calls the newer overloads, which delegate to the deprecated overloads by default
class SparkSessionCatalog extends LiteCatalog with ColumnDefinitionCatalog with CatalogExtension {
  private type DelegateCatalog = TableCatalog with SupportsNamespaces with FunctionCatalog

  /** The catalog of the iceberg-lite tables. It does not accept paths as table names. */
  private val icebergCatalog = new IcebergTables

  final private class IcebergTables extends SparkCatalog {
    override protected def mayAllowPaths: Boolean = false

    /** Whether the tables are in a Hive Metastore, which may be that of Spark's own tables. */
    def isInMetastore: Boolean = catalog.isInstanceOf[HiveCatalog]
  }

  private var delegateCatalog: Option[CatalogPlugin] = None

  private def delegateIfAny: CatalogPlugin =
    delegateCatalog.getOrElse(throw new IllegalStateException("Spark has not called setDelegateCatalog"))

  private def delegate: DelegateCatalog = delegateIfAny match {
    case c: TableCatalog with SupportsNamespaces with FunctionCatalog => c
    case other => throw new IllegalStateException(s"${other.getClass.getName} is not a session catalog")
  }

  private def functionsOfDelegate: FunctionCatalog = delegateIfAny match {
    case c: FunctionCatalog => c
    case other => throw new IllegalStateException(s"${other.getClass.getName} has no functions")
  }

  // To analyze the default value of a column, Spark sets a catalog that has only functions.
  override def setDelegateCatalog(catalog: CatalogPlugin): Unit = delegateCatalog = Some(catalog)

  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = {
    val icebergOptions = options.asCaseSensitiveMap.asScala
    // The default catalog type is the Hive Metastore, where Spark also stores the tables of its session catalog.
    val hasType = Seq(CatalogProperty.Type, CatalogProperty.CatalogImpl).exists(_.in(icebergOptions.toMap).isDefined)
    val allOptions =
      if (hasType) icebergOptions else icebergOptions + (CatalogProperty.Type.key -> HiveCatalog.catalogType)
    icebergCatalog.initialize(name, new CaseInsensitiveStringMap(allOptions.asJava))
  }

  override def name: String = icebergCatalog.name

  override def sharedTable(ident: Identifier): SharedTable =
    try icebergCatalog.sharedTable(ident)
    catch {
      case _: NoSuchTableException if isInDelegate(ident) =>
        val table = (name +: ident.namespace :+ ident.name).mkString(".")
        throw Unsupported(
          s"this statement for $table",
          "The table is not an Iceberg table; create Iceberg tables with USING iceberg"
        )
    }

  override def registerTable(ident: Identifier, metadataFile: String): iceberglite.table.Table = {
    if (!namespaceExists(ident.namespace)) throw new NoSuchNamespaceException(ident.namespace)
    if (tableExists(ident)) throw new TableAlreadyExistsException(ident)
    icebergCatalog.registerTable(ident, metadataFile)
  }

  override def commitAll(changes: Vector[iceberglite.table.TableChange]): Unit = icebergCatalog.commitAll(changes)

  override def viewCatalog: Option[ViewCatalog] = icebergCatalog.viewCatalog

  override def isIcebergTable(ident: Identifier): Boolean = icebergCatalog.isIcebergTable(ident)

  override def stageTable(ident: Identifier, creation: TableCreation): iceberglite.table.StagedTable = {
    if (!namespaceExists(ident.namespace)) throw new NoSuchNamespaceException(ident.namespace)
    if (tableExists(ident)) throw new TableAlreadyExistsException(ident)
    icebergCatalog.stageTable(ident, creation)
  }

  override def allowsPaths: Boolean = icebergCatalog.allowsPaths

  override def rejection(ident: Identifier): Option[String] = icebergCatalog.rejection(ident)

  override def similarName(ident: Identifier): Option[String] = icebergCatalog.similarName(ident)

  override def capabilities: util.Set[TableCatalogCapability] =
    (delegate.capabilities.asScala ++ icebergCatalog.capabilities.asScala).asJava

  // Tables

  override def listTables(namespace: Array[String]): Array[Identifier] = {
    val icebergTables =
      try icebergCatalog.listTables(namespace)
      catch { case _: NoSuchNamespaceException => Array.empty[Identifier] }
    (delegate.listTables(namespace) ++ icebergTables).distinct
  }

  override def tableExists(ident: Identifier): Boolean = isIcebergTable(ident) || isInDelegate(ident)

  override def loadTable(ident: Identifier): Table =
    icebergOrDelegate(ident)(icebergCatalog.loadTable(_))(i => withoutIcebergViews(i, delegate.loadTable(i)))

  override def loadTable(ident: Identifier, version: String): Table =
    icebergOrDelegate(ident)(icebergCatalog.loadTable(_, version))(delegate.loadTable(_, version))

  override def loadTable(ident: Identifier, timestamp: Long): Table =
    icebergOrDelegate(ident)(icebergCatalog.loadTable(_, timestamp))(delegate.loadTable(_, timestamp))

  override def invalidateTable(ident: Identifier): Unit = {
    icebergCatalog.invalidateTable(ident)
    delegate.invalidateTable(ident)
  }

  override def alterTable(ident: Identifier, changes: TableChange*): Table =
    (if (isIcebergTable(ident)) icebergCatalog else delegate).alterTable(ident, changes: _*)

  override def dropTable(ident: Identifier): Boolean =
    (if (isIcebergTable(ident)) icebergCatalog else delegate).dropTable(ident)

  override def purgeTable(ident: Identifier): Boolean =
    (if (isIcebergTable(ident)) icebergCatalog else delegate).purgeTable(ident)

  override def renameTable(from: Identifier, to: Identifier): Unit = {
    if (tableExists(to) || isIcebergView(to)) throw new TableAlreadyExistsException(to)
    (if (isIcebergTable(from)) icebergCatalog else delegate).renameTable(from, to)
  }

  override def createTable(
      ident: Identifier,
      schema: StructType,
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): Table = {
    checkNameIsUnused(ident, properties)
    checkGeneratedColumns(ident, schema, properties)
    (if (isIcebergProvider(properties)) icebergCatalog else delegate).createTable(ident, schema, partitions, properties)
  }

  // Staged tables

  override def stageCreate(
      ident: Identifier,
      schema: StructType,
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): StagedTable = {
    checkNameIsUnused(ident, properties)
    checkGeneratedColumns(ident, schema, properties)
    stageByProvider(properties)(_.stageCreate(ident, schema, partitions, properties)) {
      UnstagedTable.create(delegate, ident, schema, partitions, properties)
    }
  }

  override def stageReplace(
      ident: Identifier,
      schema: StructType,
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): StagedTable = {
    checkSameKind(ident, properties)
    checkGeneratedColumns(ident, schema, properties)
    stageByProvider(properties)(_.stageReplace(ident, schema, partitions, properties)) {
      if (!delegate.dropTable(ident)) throw new NoSuchTableException(ident)
      UnstagedTable.create(delegate, ident, schema, partitions, properties)
    }
  }

  override def stageCreateOrReplace(
      ident: Identifier,
      schema: StructType,
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): StagedTable = {
    checkSameKind(ident, properties)
    checkGeneratedColumns(ident, schema, properties)
    stageByProvider(properties)(_.stageCreateOrReplace(ident, schema, partitions, properties)) {
      delegate.dropTable(ident)
      UnstagedTable.create(delegate, ident, schema, partitions, properties)
    }
  }

  /**
   * Stages a table: an iceberg-lite table in the catalog of the iceberg-lite tables, or another table in Spark's
   * catalog. Spark's catalog may not support staging. In this case, a failed CREATE TABLE AS SELECT leaves no table,
   * and after a failed REPLACE TABLE, the replaced table is lost. Spark behaves in the same way without the connector.
   *
   * @param unstaged creates the table in Spark's catalog if that catalog does not support staging
   */
  private def stageByProvider(properties: util.Map[String, String])(
      stage: StagingTableCatalog => StagedTable
  )(unstaged: => StagedTable): StagedTable =
    if (isIcebergProvider(properties)) stage(icebergCatalog)
    else delegate match {
      case staging: StagingTableCatalog => stage(staging)
      case _ => unstaged
    }

  // Namespaces, which Spark's catalog manages

  override def defaultNamespace: Array[String] = delegate.defaultNamespace
  override def listNamespaces(): Array[Array[String]] = delegate.listNamespaces()
  override def listNamespaces(namespace: Array[String]): Array[Array[String]] = delegate.listNamespaces(namespace)
  override def namespaceExists(namespace: Array[String]): Boolean = delegate.namespaceExists(namespace)

  override def loadNamespaceMetadata(namespace: Array[String]): util.Map[String, String] =
    delegate.loadNamespaceMetadata(namespace)

  override def createNamespace(namespace: Array[String], properties: util.Map[String, String]): Unit =
    delegate.createNamespace(namespace, properties)

  override def alterNamespace(namespace: Array[String], changes: NamespaceChange*): Unit =
    delegate.alterNamespace(namespace, changes: _*)

  /**
   * Drops a namespace of Spark's catalog, which does not know the iceberg-lite tables and views in the namespace.
   * Without `cascade`, this method throws an error if there are such tables or views; with `cascade`, it first drops
   * them, as DROP TABLE and DROP VIEW do. A namespace of the Iceberg catalog remains, because it may be shared with
   * other engines. If there are iceberg-lite tables in a Hive Metastore, they are always an error, because Hive deletes
   * the directory of a database with all files, also those that DROP TABLE keeps.
   */
  override def dropNamespace(namespace: Array[String], cascade: Boolean): Boolean = {
    val isRefused = !delegate.namespaceExists(namespace) || isSameName(namespace, delegate.defaultNamespace)
    if (!isRefused) {
      val own = icebergCatalog.listNamespaces().filter(isSameName(_, namespace)).toVector
      val tables = own.flatMap(icebergCatalog.listTables(_))
      val views = own.flatMap(n => SessionViews.names(icebergCatalog, n).map(TableIdentifier(n.toVector, _)))
      val isAllowed = cascade && (tables.isEmpty || !icebergCatalog.isInMetastore)
      if (!isAllowed && (tables.nonEmpty || views.nonEmpty)) throw new NonEmptyNamespaceException(namespace)
      tables.foreach(icebergCatalog.dropTable)
      for (catalog <- icebergCatalog.viewCatalog; view <- views) SparkErrors.in(view.toString)(catalog.dropView(view))
    }
    delegate.dropNamespace(namespace, cascade)
  }

  /** Whether two names are the same for Spark's catalog, which stores names in lower case. */
  private def isSameName(a: Array[String], b: Array[String]): Boolean =
    a.map(_.toLowerCase(Locale.ROOT)).sameElements(b.map(_.toLowerCase(Locale.ROOT)))

  // Functions: the partition transforms of iceberg-lite tables, and the functions of Spark's catalog

  override def listFunctions(namespace: Array[String]): Array[Identifier] = functionsOfDelegate.listFunctions(namespace)

  override def loadFunction(ident: Identifier): UnboundFunction =
    try icebergCatalog.loadFunction(ident)
    catch { case _: NoSuchFunctionException => functionsOfDelegate.loadFunction(ident) }

  /**
   * Returns the table, or throws the error for a missing table if it is an Iceberg view of the Hive Metastore. Spark
   * would read this view as one of its own views, and would look up unqualified names of the query in the wrong
   * namespace. After the error, the rules of the extensions find the Iceberg view.
   */
  private def withoutIcebergViews(ident: Identifier, table: Table): Table = {
    val isIcebergView = Option(table.properties.get(SparkSessionCatalog.TableType))
      .exists(_.equalsIgnoreCase(SparkSessionCatalog.IcebergView))
    if (isIcebergView) throw new NoSuchTableException(ident) else table
  }

  /**
   * Whether Spark's own catalog contains the table. Only namespaces of one level are looked up, because Spark's catalog
   * throws for longer namespaces. If the Hive Metastore cannot be reached, this method throws instead of returning
   * false, because a table with this name may exist.
   */
  private def isInDelegate(ident: Identifier): Boolean = ident.namespace.length == 1 && delegate.tableExists(ident)

  private def icebergOrDelegate(ident: Identifier)(fromIceberg: Identifier => Table)(fromDelegate: Identifier => Table)
      : Table =
    try fromIceberg(ident)
    catch {
      case missing: NoSuchTableException => if (ident.namespace.length == 1) fromDelegate(ident) else throw missing
      case _: NoSuchNamespaceException => fromDelegate(ident)
    }

  private def isIcebergProvider(properties: util.Map[String, String]): Boolean =
    properties.asScala.get(TableCatalog.PROP_PROVIDER).exists(Providers.isOwn)

  private def checkNameIsUnused(ident: Identifier, properties: util.Map[String, String]): Unit = {
    if (isIcebergProvider(properties) && !namespaceExists(ident.namespace)) {
      throw new NoSuchNamespaceException(ident.namespace)
    }
    if (tableExists(ident) || isIcebergView(ident)) throw new TableAlreadyExistsException(ident)
  }

  /** Whether an Iceberg view that Spark's catalog does not know has the name. Spark knows those of a Hive Metastore. */
  private def isIcebergView(ident: Identifier): Boolean = !icebergCatalog.isInMetastore &&
    SparkErrors.in(ident.toString)(ViewName.in(this, ident).exists(_.exists))

  /** Rejects generated columns of tables of other providers, because Spark's catalog does not support them. */
  private def checkGeneratedColumns(
      ident: Identifier,
      schema: StructType,
      properties: util.Map[String, String]
  ): Unit =
    if (!isIcebergProvider(properties) && GeneratedColumn.hasGeneratedColumns(schema)) {
      val table = (name +: ident.namespace :+ ident.name).mkString(".")
      val unsupported = Unsupported(
        s"generated columns in $table, which is not an Iceberg table",
        "Create the table with USING iceberg, or remove GENERATED ALWAYS AS"
      )
      throw SparkErrors.of(table, unsupported)
    }

  /**
   * Checks that an iceberg-lite table does not replace a table of another provider in the session catalog, that a table
   * of another provider does not replace an iceberg-lite table, and that neither replaces an Iceberg view.
   */
  private def checkSameKind(ident: Identifier, properties: util.Map[String, String]): Unit =
    if (
      isIcebergView(ident) ||
      (if (isIcebergProvider(properties)) isInDelegate(ident) && !isIcebergTable(ident) else isIcebergTable(ident))
    ) throw new TableAlreadyExistsException(ident)
}

object SparkSessionCatalog {

  /** The table parameter by which the Hive Metastore identifies Iceberg views; its value is `ICEBERG-VIEW`. */
  private val TableType = "table_type"
  private val IcebergView = "ICEBERG-VIEW"
}
