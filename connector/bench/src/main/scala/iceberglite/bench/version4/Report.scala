package iceberglite.bench.version4

/** A value in a report. */
sealed trait Cell {
  def text: String
  def json: String
}

object Cell {
  final case class Text(text: String) extends Cell {
    override def json: String = "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\""
  }

  final case class Count(value: Long) extends Cell {
    override def text: String = f"$value%,d"
    override def json: String = value.toString
  }

  final case class Number(value: Double) extends Cell {
    override def text: String =
      if (value.isNaN) "" else if (value >= 100) f"$value%,.0f" else f"$value%.2f"
    override def json: String = if (value.isNaN || value.isInfinite) "null" else value.toString
  }
}

/** A table of a report. Each row has a cell for each column. @param names the names of the columns */
final case class Section(title: String, names: Vector[String], rows: Vector[Vector[Cell]]) {

  /** Returns the section as a table in Markdown. */
  def markdown: String = {
    val lines = names +: names.map(_ => "---") +: rows.map(_.map(_.text))
    (s"## $title" +: "" +: lines.map(_.mkString("| ", " | ", " |"))).mkString("\n") + "\n"
  }

  /** Returns the rows as a JSON array of objects. */
  def json: String = rows.map { row =>
    names.zip(row).map { case (name, cell) => s"${Cell.Text(name).json}: ${cell.json}" }.mkString("{", ", ", "}")
  }.mkString("[\n  ", ",\n  ", "\n]")
}

object Section {

  /** Returns the sections as a JSON object. */
  def json(sections: Vector[Section]): String =
    sections.map(s => s"${Cell.Text(s.title).json}: ${s.json}").mkString("{", ",\n", "}\n")
}
