package iceberglite.spark.maintenance.importing

import java.net.URI
import java.util.Locale

import scala.util.Try

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{
  CatalogStorageFormat,
  CatalogTable,
  CatalogTablePartition,
  CatalogTableType
}
import org.apache.spark.sql.connector.catalog.Identifier

import iceberglite.maintenance.importing.{SourceDirectories, SourcePartition}
import iceberglite.spark.session.CatalogNames
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound, Unsupported}
import iceberglite.spec.ObjectKind
import iceberglite.spec.file.FileFormat
import iceberglite.storage.FileIO
import iceberglite.tree.MetadataPool

/**
 * The partitions of a source of files, with the files of each partition.
 *
 * @param columns the names of the partition columns
 */
final private[importing] case class PartitionedSource(columns: Vector[String], partitions: Vector[SourcePartition])

/** A source of existing data files that can be added to a table. */
sealed private[iceberglite] trait ImportSource {

  /** The directories of the source that are known without listing it. */
  private[importing] def directories: Vector[String]

  /**
   * Lists the files of the selected partitions.
   *
   * @param ignoresMissing whether a missing directory of a partition is treated as empty; otherwise it is an error
   */
  private[importing] def list(io: FileIO, selection: PartitionSelection, ignoresMissing: Boolean): PartitionedSource
}

private[iceberglite] object ImportSource {
  private val Argument = "argument source_table"
  private val SessionCatalog = "spark_catalog"

  /**
   * Returns the source with the given name: a table of Spark's session catalog, or the path of a file or directory such
   * as `` parquet.`/data/t` ``.
   *
   * @throws InvalidArgument if the text is not a name, or the table is in another catalog, is a view, or is an Iceberg
   *   table
   * @throws NotFound if the table does not exist
   * @throws Unsupported if the files of the table are not Parquet, ORC or Avro files
   */
  def of(session: SparkSession, name: String): ImportSource = nameParts(session, name) match {
    case Seq(format, path) if formatNamed(format).isDefined => FilesAt(path, formatNamed(format).get)
    case _ => table(session, name)
  }

  /**
   * Returns a table of Spark's session catalog.
   *
   * @throws InvalidArgument, NotFound, Unsupported under the same conditions as [[of]]
   */
  def table(session: SparkSession, name: String): TableSource = {
    val sessionCatalog = session.sessionState.catalogManager.catalog(SessionCatalog)
    val (catalog, ident) = CatalogNames.resolveIn(session, sessionCatalog, nameParts(session, name))
    if (catalog.name != SessionCatalog) throw InvalidArgument(
      Argument,
      name,
      s"The source must be a table of the catalog $SessionCatalog, or a path such as parquet.`/data/t`"
    )
    table(session, ident)
  }

  /**
   * Returns a table of Spark's session catalog.
   *
   * @throws NotFound, InvalidArgument, Unsupported under the same conditions as [[of]]
   */
  def table(session: SparkSession, ident: Identifier): TableSource = {
    val name = (ident.namespace :+ ident.name).mkString(".")
    val catalog = session.sessionState.catalog
    val id = TableIdentifier(ident.name, ident.namespace.headOption)
    if (ident.namespace.length != 1 || !catalog.tableExists(id)) {
      throw NotFound(ObjectKind.Table, name, s"List the tables with SHOW TABLES IN $SessionCatalog.<database>")
    }
    val found = catalog.getTableMetadata(id)
    if (found.tableType == CatalogTableType.VIEW) {
      throw InvalidArgument(
        Argument,
        name,
        "It is a view, which has no files. Insert its rows with INSERT INTO ... SELECT"
      )
    }
    if (isIceberg(found)) throw InvalidArgument(
      Argument,
      name,
      "It is an Iceberg table, whose files can contain deleted rows. Insert its rows with INSERT INTO ... SELECT"
    )
    new TableSource(session, found, formatOf(found, found.storage, name))
  }

  private def nameParts(session: SparkSession, name: String): Seq[String] =
    Try(session.sessionState.sqlParser.parseMultipartIdentifier(name)).getOrElse(
      throw InvalidArgument(Argument, name, "It must be a table name in SQL, or a path such as parquet.`/data/t`")
    )

  private def formatNamed(name: String): Option[FileFormat] = FileFormat.ofRows.find(_.name.equalsIgnoreCase(name))

  private def isIceberg(table: CatalogTable): Boolean =
    (table.provider ++ table.properties.get("table_type")).exists(_.toLowerCase(Locale.ROOT).startsWith("iceberg"))

  /**
   * Returns the format of the files of a table or a partition. The provider of a Spark table, or the SerDe of a Hive
   * table or partition, determines the format.
   */
  private[importing] def formatOf(table: CatalogTable, storage: CatalogStorageFormat, name: String): FileFormat = {
    val classes = table.provider.filterNot(_.equalsIgnoreCase("hive")).fold(
      storage.serde.toSeq ++ storage.inputFormat
    )(Seq(_))
    FileFormat.ofRows.find(f => classes.exists(_.toLowerCase(Locale.ROOT).contains(f.name))).getOrElse(
      throw Unsupported(
        s"adding the files of $name, whose format is ${classes.headOption.getOrElse("unknown")}",
        "The files must be Parquet, ORC or Avro. Insert the rows of other tables with INSERT INTO ... SELECT"
      )
    )
  }
}

/** A directory, or a single file. */
final private[iceberglite] case class FilesAt(path: String, format: FileFormat) extends ImportSource {
  override private[importing] def directories: Vector[String] = Vector(path)

  override private[importing] def list(
      io: FileIO,
      selection: PartitionSelection,
      ignoresMissing: Boolean
  ): PartitionedSource = {
    val partitions = new SourceDirectories(io, format).below(path)(selection.accepts)
    if (partitions.isEmpty && !selection.isEmpty) {
      throw InvalidArgument("argument partition_filter", path, "The source has no matching partition")
    }
    PartitionedSource(partitions.headOption.toVector.flatMap(_.values.map(_._1)), partitions)
  }
}

/** A table of Spark's session catalog, other than an Iceberg table. */
final private[iceberglite] class TableSource(session: SparkSession, val table: CatalogTable, format: FileFormat)
    extends ImportSource {
  val location: String = text(table.location)

  private lazy val partitions: Vector[CatalogTablePartition] =
    session.sessionState.catalog.listPartitions(table.identifier).toVector

  /** Whether the catalog lists the partitions; otherwise, they are found by listing directories. */
  private def tracksPartitions: Boolean =
    table.provider.forall(_.equalsIgnoreCase("hive")) || table.tracksPartitionsInCatalog

  override private[importing] def directories: Vector[String] =
    if (isPartitioned && tracksPartitions) location +: partitions.map(p => text(p.location)) else Vector(location)

  private def isPartitioned: Boolean = table.partitionColumnNames.nonEmpty

  override private[importing] def list(
      io: FileIO,
      selection: PartitionSelection,
      ignoresMissing: Boolean
  ): PartitionedSource = {
    val columns = table.partitionColumnNames.toVector
    val found =
      if (!isPartitioned) {
        val files = new SourceDirectories(io, format).filesIn(location, ignoresMissing)
        Vector(SourcePartition(Vector.empty, format, files))
      } else if (tracksPartitions) MetadataPool.map(selected(selection))(list(io, _, ignoresMissing))
      else new SourceDirectories(io, format).below(location)(selection.accepts).filter(_.values.nonEmpty)
    PartitionedSource(columns, found)
  }

  private def selected(selection: PartitionSelection): Vector[CatalogTablePartition] =
    partitions.filter(valuesOf(_).forall { case (column, value) => selection.accepts(column, value) })

  private def list(io: FileIO, partition: CatalogTablePartition, ignoresMissing: Boolean): SourcePartition = {
    val ofPartition = ImportSource.formatOf(table, partition.storage, table.identifier.unquotedString)
    val files = new SourceDirectories(io, ofPartition).filesIn(text(partition.location), ignoresMissing)
    SourcePartition(valuesOf(partition), ofPartition, files)
  }

  private def valuesOf(partition: CatalogTablePartition): Vector[(String, Option[String])] =
    partition.spec.toVector.map { case (column, value) => column -> Option(value).flatMap(SourcePartition.valueOf) }

  private def text(location: URI): String = new Path(location).toString
}
