package iceberglite.spark.read.parquet

import java.util.{Map => JavaMap}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.mapred.JobConf
import org.apache.parquet.filter2.predicate.FilterPredicate
import org.apache.parquet.hadoop.ParquetInputFormat
import org.apache.parquet.hadoop.api.ReadSupport.ReadContext
import org.apache.parquet.hadoop.api.{InitContext, ReadSupport}
import org.apache.parquet.io.api.RecordMaterializer
import org.apache.parquet.schema.MessageType
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.parquet.ParquetReadSupport
import org.apache.spark.sql.types.StructType

/**
 * Tells Spark's vectorized Parquet reader which columns of a file to read. Spark's own [[ParquetReadSupport]] matches
 * columns by name, whereas this class returns the columns that were matched by field id. Parquet instantiates this
 * class by its name, so the columns are passed in the [[ReadJob]] instead of the constructor.
 */
final class IcebergReadSupport extends ReadSupport[InternalRow] {
  override def init(context: InitContext): ReadContext = context.getConfiguration match {
    case job: ReadJob => new ReadContext(job.key.requested)
    case other => throw new IllegalStateException(s"$other does not contain the columns to read")
  }

  /** Always throws, because neither Spark's vectorized reader nor `RowDecoder` calls this method. */
  override def prepareForRead(
      configuration: Configuration,
      keyValueMetadata: JavaMap[String, String],
      fileSchema: MessageType,
      context: ReadContext
  ): RecordMaterializer[InternalRow] =
    throw new UnsupportedOperationException("Rows are created from batches, not by Parquet's record reader")
}

/**
 * The configuration for reading files with the same columns and the same filter. It is a [[JobConf]], because Hadoop
 * would copy any other configuration into a new [[JobConf]].
 */
final private[read] class ReadJob(base: Configuration, val key: ReadJobs.Key) extends JobConf(base) {
  set(ParquetInputFormat.READ_SUPPORT_CLASS, classOf[IcebergReadSupport].getName)
  set(ParquetReadSupport.SPARK_ROW_REQUESTED_SCHEMA, key.readSchema.json)
  key.filter.foreach(ParquetInputFormat.setFilterPredicate(this, _))
  if (key.readsWholePages) setBoolean(ParquetInputFormat.COLUMN_INDEX_FILTERING_ENABLED, false)
  // Hadoop looks up `IcebergReadSupport` by its name, and the class loader that loaded Hadoop may not find the
  // connector.
  setClassLoader(classOf[IcebergReadSupport].getClassLoader)
}

/**
 * Creates the configurations for the files of one Spark task. Consecutive files with the same columns and the same
 * filter share a configuration, because copying a configuration is about as expensive as opening a small local file.
 *
 * @param base the configuration of the table's storage
 */
final private[read] class ReadJobs(val base: Configuration) {
  private var last: Option[ReadJob] = None

  def of(key: ReadJobs.Key): ReadJob = last.filter(_.key == key).getOrElse {
    val job = new ReadJob(base, key)
    last = Some(job)
    job
  }
}

private[read] object ReadJobs {

  /**
   * The inputs that determine the configuration for a file.
   *
   * @param requested the columns to read, in the file's schema
   * @param readSchema the columns to read, as Spark's types
   * @param readsWholePages whether all pages are read, even if the column index shows that a page has no matching row
   */
  final case class Key(
      requested: MessageType,
      readSchema: StructType,
      filter: Option[FilterPredicate],
      readsWholePages: Boolean
  )
}
