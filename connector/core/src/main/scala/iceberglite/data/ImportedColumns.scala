package iceberglite.data

import iceberglite.avro.FileFieldNames
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.schema.Schema

/** Checks the top-level columns of a file that another program wrote, before a table adds the file. */
private[data] object ImportedColumns {

  /**
   * Checks that the columns of a file match columns of the table. If they did not match, queries would return only
   * nulls for the file, or the values of other columns.
   *
   * @param columns the names and field ids of the file's columns. If the file has no field ids, the ids are those of
   *   the name mapping
   * @throws UnreadableFile if no column of the file matches a column of the table, or if a column of the file has the
   *   field id of a table column with another name
   */
  def check(source: DataSource, columns: Vector[(String, Option[Int])], schema: Schema): Unit = {
    val ofTable = columns.collect { case (name, Some(id)) => schema.fields.find(_.id == id).map(name -> _) }.flatten
    if (columns.nonEmpty && ofTable.isEmpty) {
      fail(
        source,
        s"None of its columns (${shortList(columns.map(_._1))}) is a column of the table " +
          s"(${shortList(schema.fields.map(_.name))}). Names are case-sensitive. Rename the columns, or add their " +
          "names to the table's name mapping"
      )
    }
    ofTable.foreach { case (name, field) =>
      val names = field.name +: source.nameMapping.toVector.flatMap(_.fields).filter(_.id.contains(field.id))
        .flatMap(_.names)
      // Iceberg writers escape some characters of column names in files.
      val inFiles = names ++ names.map(FileFieldNames.parquet) ++ names.map(FileFieldNames.avro)
      if (!inFiles.contains(name)) {
        fail(
          source,
          s"Column $name has the field id ${field.id}, which is the id of the table's column ${field.name}. The file " +
            "was written for another table; write its rows to this table instead"
        )
      }
    }
  }

  private val MaxNames = 20

  private def shortList(names: Vector[String]): String =
    if (names.size <= MaxNames) names.mkString(", ") else names.take(MaxNames).mkString("", ", ", ", ...")

  private def fail(source: DataSource, reason: String): Nothing =
    throw UnreadableFile(source.path, FileFaults.Role, reason)
}
