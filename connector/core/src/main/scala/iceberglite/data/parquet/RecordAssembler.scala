package iceberglite.data.parquet

import scala.collection.JavaConverters._

import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.column.impl.ColumnReaderImpl
import org.apache.parquet.column.page.PageReadStore
import org.apache.parquet.io.ParquetDecodingException
import org.apache.parquet.io.api.{Converter, GroupConverter}
import org.apache.parquet.schema.Type.Repetition
import org.apache.parquet.schema.{GroupType, Type => ParquetType}

import iceberglite.data.Record

/**
 * Assembles the records of a row group from its columns. Parquet's own reader derives a state machine from the schema,
 * which takes longer than reading a file with many columns and few rows.
 *
 * @param plan the columns to read, and the converters that receive their values
 * @param isPlain returns whether [[PlainColumn]] can read a column
 */
final private[parquet] class RecordAssembler(
    plan: FileReadPlan,
    pages: PageReadStore,
    isPlain: ColumnDescriptor => Boolean
) extends GroupRecords {
  import RecordAssembler._

  private val root: Group = group(plan.requested, plan.records.getRootConverter, Place(Vector.empty, 0, 0))

  override val count: Long = pages.getRowCount

  override def read(): Record = {
    root.read()
    plan.records.getCurrentRecord
  }

  private def group(file: GroupType, converter: GroupConverter, place: Place): Group = {
    val fields = file.getFields.asScala.zipWithIndex.map { case (f, i) => field(f, converter.getConverter(i), place) }
    new Group(fields.toArray, converter, place.definition)
  }

  private def field(file: ParquetType, converter: Converter, parent: Place): Field = {
    val place = parent.child(file)
    val single =
      if (file.isPrimitive) column(converter, place) else group(file.asGroupType, converter.asGroupConverter, place)
    if (file.isRepetition(Repetition.REPEATED)) new Repeated(single, place.definition, place.repetition) else single
  }

  private def column(converter: Converter, place: Place): Column = {
    val descriptor = plan.requested.getColumnDescription(place.path.toArray)
    val (reader, receiver) = (pages.getPageReader(descriptor), converter.asPrimitiveConverter)
    // The version of the writer is absent, as in Parquet's own reader if the version is not known.
    val cursor =
      if (isPlain(descriptor)) new PlainColumn(descriptor, reader, receiver)
      else new EncodedColumn(new ColumnReaderImpl(descriptor, reader, receiver, null), reader.getTotalValueCount)
    new Column(cursor, place.definition)
  }
}

private object RecordAssembler {

  /**
   * The place of a field in the file.
   *
   * @param path its names in the file
   * @param definition the definition level at which it is present
   * @param repetition the number of repeated fields in its path
   */
  final private case class Place(path: Vector[String], definition: Int, repetition: Int) {
    def child(field: ParquetType): Place = {
      val repeated = if (field.isRepetition(Repetition.REPEATED)) 1 else 0
      val optional = if (field.isRepetition(Repetition.REQUIRED)) 0 else 1
      Place(path :+ field.getName, definition + optional, repetition + repeated)
    }
  }

  /** A field of the current group. */
  sealed abstract private class Field {

    /** Passes the next value to the converter, unless it is null. */
    def read(): Unit

    /** Skips a null, which each column below the field contains. */
    def skip(): Unit

    /** The definition level of the next value in the first column. */
    def definition: Int

    /** The repetition level of the next value in the first column. */
    def repetition: Int
  }

  final private class Column(values: ColumnCursor, present: Int) extends Field {
    override def read(): Unit = {
      if (values.definition == present) values.passValue()
      values.next()
    }
    override def skip(): Unit = values.next()
    override def definition: Int = values.definition
    override def repetition: Int = values.repetition
  }

  /** A column of any encoding. @param count the number of its values */
  final private class EncodedColumn(reader: ColumnReaderImpl, count: Long) extends ColumnCursor {
    private var left = count

    override def definition: Int = reader.getCurrentDefinitionLevel
    override def repetition: Int = reader.getCurrentRepetitionLevel
    override def passValue(): Unit = reader.writeCurrentValueToConverter()
    override def next(): Unit = {
      if (left == 0) throw new ParquetDecodingException(
        s"The column ${reader.getDescriptor.getPath.mkString(".")} has fewer values than the rows of its row group need"
      )
      left -= 1
      reader.consume()
    }
  }

  final private class Group(fields: Array[Field], converter: GroupConverter, present: Int) extends Field {
    override def read(): Unit =
      if (fields.length > 0 && definition < present) skip()
      else {
        converter.start()
        var i = 0
        while (i < fields.length) {
          fields(i).read()
          i += 1
        }
        converter.end()
      }

    override def skip(): Unit = {
      var i = 0
      while (i < fields.length) {
        fields(i).skip()
        i += 1
      }
    }

    override def definition: Int = fields(0).definition
    override def repetition: Int = fields(0).repetition
  }

  /** @param level the repetition level of all values of the field except the first one */
  final private class Repeated(single: Field, present: Int, level: Int) extends Field {
    override def read(): Unit =
      if (single.definition < present) single.skip()
      else {
        single.read()
        while (single.repetition == level) single.read()
      }
    override def skip(): Unit = single.skip()
    override def definition: Int = single.definition
    override def repetition: Int = single.repetition
  }
}
