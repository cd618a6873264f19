package iceberglite.data.parquet

import java.io.ByteArrayOutputStream

import org.apache.parquet.io.{InputFile, OutputFile, PositionOutputStream}
import org.apache.parquet.schema.{GroupType, PrimitiveType => ParquetPrimitive}

import iceberglite.data.{DataSource, FileFaults, Record, RecordIterator}
import iceberglite.parquet.{ParquetInput, ParquetShapes, SchemaOfParquet}
import iceberglite.spec.property.{ParquetCompression, ParquetPageVersion}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.PrimitiveType
import iceberglite.spec.types.Type.StructType

/**
 * Reads and writes Parquet files with metadata of tables, such as the manifests of format version 4. These files are
 * small, so they are written in memory. Their columns have neither dictionaries nor statistics, because readers need
 * all rows.
 */
private[iceberglite] object ParquetMetadataFiles {
  private val RowGroupSize = 4L << 20
  private val PageSize = 1 << 20
  private val PageRows = 20000
  private val ZstdLevel = 3
  private val CheckMinRows = 100
  private val CheckMaxRows = 10000

  /** The records of a file, with the key-value metadata of its footer. */
  trait MetadataRecords extends RecordIterator {
    def keyValues: Map[String, String]
  }

  /** The maximum length of a file that is read by one request, in bytes. */
  private val MaxWholeBytes = 32L << 20

  /**
   * Opens a file. If it is small, it is read by one request, because nearly all of it is needed.
   *
   * @param source the file with its length, which may be inexact, or 0 if it is not known
   * @param expected the columns to read, matched by field id; see [[iceberglite.data.DataFormat.read]]
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the file or a column cannot be read
   */
  def open(source: DataSource, expected: StructType): MetadataRecords =
    if (isShort(source)) load(source).open(expected)
    else new ParquetRecords(source, expected, StreamedParquet.open(source))

  /** Returns whether the length of a file is known, and the file is small enough to be loaded. */
  def isShort(source: DataSource): Boolean = source.length > 0 && source.length <= MaxWholeBytes / 2

  /**
   * Reads the bytes of a file by one request.
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the file is not a Parquet file, or is too long
   */
  def load(source: DataSource): LoadedFile =
    new LoadedFile(source, ParquetInput.whole(source.io, source.path, MaxWholeBytes))

  /** A file whose bytes are in memory, so that columns can be read when they are needed. */
  final class LoadedFile private[ParquetMetadataFiles] (source: DataSource, file: InputFile) {
    private val loaded = new LoadedParquet(source.path, file)

    /** The types of the primitive fields of the file; see [[ParquetMetadataFiles.typesOf]]. */
    def types: Map[Int, PrimitiveType] = primitiveTypes(source.path, loaded.open())

    /** Opens the file; see [[ParquetMetadataFiles.open]]. */
    def open(expected: StructType): MetadataRecords = new ParquetRecords(source, expected, loaded.open())
  }

  /**
   * Returns the types of the primitive fields of a file at all levels, by field id, without fields whose types have no
   * equivalent in Iceberg.
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the file is not a Parquet file
   */
  def typesOf(source: DataSource): Map[Int, PrimitiveType] =
    primitiveTypes(source.path, StreamedParquet.open(source))

  private def primitiveTypes(path: String, open: => OpenParquet): Map[Int, PrimitiveType] = {
    def types(group: GroupType): Vector[(Int, PrimitiveType)] = ParquetShapes.childrenOf(group).flatMap {
      case inner: GroupType => types(inner)
      case leaf: ParquetPrimitive =>
        for (id <- ParquetShapes.idOf(leaf).toVector; t <- SchemaOfParquet.primitiveOf(leaf)) yield id -> t
      case _ => Vector.empty
    }
    FileFaults.wrapReadErrors(path) {
      val file = open
      try types(file.metadata.getSchema).toMap
      finally file.close()
    }
  }

  /** Returns the bytes of a file. @param path the path for messages */
  def write(path: String, schema: Schema, keyValues: Map[String, String], rows: Iterator[Record]): Array[Byte] = {
    val settings = settingsOf(schema)
    val codecs = new ZstdPages.Codecs(ZstdLevel, PageSize)
    try {
      val fileSettings = ParquetFileSettings.of(schema, settings, codecs, keyValues)
      val shredder = RecordShredder.of(schema, fileSettings.messageType)
      val output = new InMemoryOutput(path)
      val file = new ParquetOutput(output, fileSettings, shredder.attach)
      FileFaults.wrapWriteErrors(path) {
        rows.foreach { row =>
          shredder.write(row.values)
          file.endRow()
        }
        file.finish()
        output.bytes
      }
    } finally codecs.release()
  }

  private def settingsOf(schema: Schema): ParquetSettings = {
    val none = schema.byId.values.filter(_.fieldType.isInstanceOf[PrimitiveType]).map(f => schema.names(f.id) -> false)
    ParquetSettings(
      codec = ParquetCompression.Zstd,
      level = Some(ZstdLevel),
      rowGroupSize = RowGroupSize,
      pageSize = PageSize,
      pageRows = PageRows,
      dictionarySize = PageSize,
      targetSize = Long.MaxValue,
      details = ParquetDetails(
        ParquetPageVersion.V1,
        CheckMinRows,
        CheckMaxRows,
        bloomFilterMaxSize = PageSize,
        bloomFilters = Map.empty,
        dictionary = none.toMap,
        statistics = none.toMap
      )
    )
  }

  /** A file in memory. */
  final private class InMemoryOutput(path: String) extends OutputFile {
    private val content = new ByteArrayOutputStream

    def bytes: Array[Byte] = content.toByteArray

    override def create(blockSizeHint: Long): PositionOutputStream = new PositionOutputStream {
      override def getPos: Long = content.size.toLong
      override def write(b: Int): Unit = content.write(b)
      override def write(bytes: Array[Byte], offset: Int, length: Int): Unit = content.write(bytes, offset, length)
    }
    override def createOrOverwrite(blockSizeHint: Long): PositionOutputStream = create(blockSizeHint)
    override def supportsBlockSize: Boolean = false
    override def defaultBlockSize: Long = 0
    override def getPath: String = path
  }
}
