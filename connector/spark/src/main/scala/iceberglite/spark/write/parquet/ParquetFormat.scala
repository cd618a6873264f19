package iceberglite.spark.write.parquet

import iceberglite.data.parquet.copy.ParquetCopy
import iceberglite.data.parquet.shred.VariantGroups
import iceberglite.data.{FileToCopy, VariantShape, WrittenFile}
import iceberglite.data.parquet.{ParquetFileSettings, ParquetSettings}
import iceberglite.metrics.MetricsModes
import iceberglite.spark.conf.{CompressionOptions, WriteOptions}
import iceberglite.spark.write.files.{
  DataFileCopies,
  DataFileFormat,
  DataFileWriter,
  FilesOfWrite,
  InputColumns,
  InputField,
  NewDataFiles,
  WritableFormat
}
import iceberglite.spec.file.FileFormat
import iceberglite.spec.property.{ParquetProperty, TableProperty}
import iceberglite.spec.schema.Schema
import iceberglite.storage.{DataOutput, FileIO}

/**
 * The Parquet format with the settings of one write.
 *
 * @param keyValues further entries of the file footer, such as the table's schema
 * @param sampleSize the number of rows from which a file determines how its variants are shredded; absent if they are
 *   not shredded
 */
final private[write] class ParquetFormat(
    input: Vector[InputField],
    schemaId: Int,
    modes: MetricsModes,
    settings: ParquetSettings,
    keyValues: Map[String, String],
    io: FileIO,
    sampleSize: Option[Int] = None
) extends DataFileFormat {
  override def format: FileFormat = FileFormat.Parquet

  override def unitSize: Long = settings.rowGroupSize

  /** The columns of variants to shred. */
  private val variants: Vector[VariantColumnPath] =
    if (sampleSize.isDefined) VariantColumnPath.all(input) else Vector.empty

  /** The rows of a sample are copied, for which Spark's own rows are needed. */
  override def acceptsVectors: Boolean = variants.isEmpty

  override def newFiles(): NewDataFiles = new Files

  final private class Files extends NewDataFiles {
    private val schema: Schema = InputColumns.schemaOf(input, schemaId)
    private val codecs = settings.codecs
    private val fileSettings = ParquetFileSettings.of(schema, settings, codecs, keyValues)

    override def open(path: String): DataFileWriter = sampleSize match {
      case Some(size) if variants.nonEmpty => new SampledParquetFile(variants, size, openWith(path, _))
      case _ => openWith(path, Map.empty)
    }

    /** @param shapes the shapes of shredded variants, by field id */
    private def openWith(path: String, shapes: Map[Int, VariantShape]): DataFileWriter = {
      val shredded =
        if (shapes.isEmpty) fileSettings
        else fileSettings.copy(messageType = VariantGroups.shredded(fileSettings.messageType, shapes))
      new ParquetDataFile(
        path,
        DataOutput.of(io, path),
        RowShredder.of(input, shredded.messageType),
        shredded,
        schema,
        modes,
        io.newFileKey()
      )
    }

    /**
     * The rows of encrypted files are read and written one by one, because each page must be encrypted again. So are
     * rows whose variants are to be shredded.
     */
    override def copies(files: Vector[FileToCopy], targetSize: Long): Option[DataFileCopies] =
      if (io.newFileKey().isDefined || variants.nonEmpty) None
      else ParquetCopy.of(files, fileSettings, io, targetSize).map(new Copies(_))

    override def close(): Unit = codecs.release()

    final private class Copies(copy: ParquetCopy) extends DataFileCopies {
      override def count: Int = copy.files.size

      override def write(index: Int, path: String): WrittenFile = {
        val copied = copy.write(copy.files(index), DataOutput.of(io, path))
        ParquetDataFile.written(path, copied.file, schema, modes, copied.collected)
      }

      override def close(): Unit = copy.close()
    }
  }
}

private[write] object ParquetFormat extends WritableFormat {
  override def format: FileFormat = FileFormat.Parquet

  override def of(files: FilesOfWrite): DataFileFormat =
    new ParquetFormat(
      files.input,
      files.schemaId,
      files.modes,
      settingsOf(files),
      files.keyValues,
      files.table.io,
      sampleSize(files.table.properties)
    )

  private def sampleSize(properties: Map[String, String]): Option[Int] =
    if (TableProperty.of(ParquetProperty.ShredVariants, properties))
      Some(TableProperty.of(ParquetProperty.VariantSampleSize, properties))
    else None

  private def settingsOf(files: FilesOfWrite): ParquetSettings = {
    val codec = CompressionOptions.codec(TableProperty.ParquetCodec)
    // The codec of the table property need not be available if a write option requests another codec.
    ParquetSettings.of(files.table.properties - TableProperty.ParquetCodec.key).copy(
      codec = ParquetSettings.available(files.settings(codec), codec.key),
      level = CompressionOptions.level(TableProperty.ParquetCompressionLevel).get(files.settings),
      targetSize = files.settings(WriteOptions.TargetFileSize)
    )
  }
}
