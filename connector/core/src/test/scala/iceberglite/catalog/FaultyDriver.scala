package iceberglite.catalog

import java.lang.reflect.{InvocationHandler, InvocationTargetException, Method, Proxy}
import java.sql.{Connection, Driver, DriverManager, DriverPropertyInfo, PreparedStatement, SQLException}
import java.util.Properties
import java.util.logging.Logger

/** A JDBC driver for URLs that begin with `jdbc:faulty:`, whose connections fail as scripted. */
final class FaultyDriver extends Driver {
  override def acceptsURL(url: String): Boolean = url.startsWith(FaultyDriver.Prefix)

  override def connect(url: String, info: Properties): Connection = if (!acceptsURL(url)) None.orNull
  else {
    FaultyDriver.connecting()
    if (FaultyDriver.down) throw new SQLException("by the test: the server is down")
    new FaultyDriver.Breaking(DriverManager.getConnection(url.replace(FaultyDriver.Prefix, "jdbc:"), info)).proxy
  }

  override def getPropertyInfo(url: String, info: Properties): Array[DriverPropertyInfo] = Array.empty
  override def getMajorVersion: Int = 1
  override def getMinorVersion: Int = 0
  override def jdbcCompliant: Boolean = false
  override def getParentLogger: Logger = Logger.getGlobal
}

object FaultyDriver {
  val Prefix = "jdbc:faulty:"

  /** What happens when a statement is executed: the connection breaks, the statement fails, or an action runs first. */
  sealed trait Break

  /** The connection breaks before the statement takes effect. */
  case object Before extends Break

  /** The connection breaks after the statement took effect. */
  case object After extends Break

  /** The statement fails with this error. */
  final case class DatabaseError(error: SQLException) extends Break

  /** The statement succeeds, after `first` has run. */
  final case class Late(first: () => Unit) extends Break

  /** Pairs of the beginning of a statement and what happens to the next such statement. Each pair is used once. */
  @volatile var breaks: Vector[(String, Break)] = Vector.empty

  /** Whether new connections fail. */
  @volatile var down: Boolean = false

  @volatile private var atConnection: Option[() => Unit] = None

  /** Runs `body` before the next statement that begins with `sql`. */
  def before(sql: String)(body: => Any): Unit = breaks :+= sql -> Late(() => {
    val _ = body
  })

  /** Runs `body` before the next new connection. */
  def beforeConnection(body: => Any): Unit = atConnection = Some(() => {
    val _ = body
  })

  def reset(): Unit = {
    breaks = Vector.empty
    down = false
    atConnection = None
  }

  private def connecting(): Unit = {
    val action = atConnection
    atConnection = None
    action.foreach(_.apply())
  }

  private def take(sql: String): Option[Break] = synchronized {
    val found = breaks.find(b => sql.startsWith(b._1))
    found.foreach(b => breaks = breaks.diff(Vector(b)))
    found.map(_._2)
  }

  final private class Breaking(real: Connection) {
    private var broken = false

    val proxy: Connection = make[Connection]((method, arguments) =>
      if (broken && method.getName == "isValid") java.lang.Boolean.FALSE
      else if (broken && method.getName != "close") throw new SQLException("by the test: the connection is gone")
      else if (method.getName == "prepareStatement") {
        val sql = arguments.head.asInstanceOf[String]
        statement(sql, call(real, method, arguments).asInstanceOf[PreparedStatement])
      } else call(real, method, arguments)
    )

    private def statement(sql: String, statement: PreparedStatement): PreparedStatement = make[PreparedStatement] {
      (method, arguments) =>
        if (!method.getName.startsWith("execute")) call(statement, method, arguments)
        else take(sql) match {
          case None => call(statement, method, arguments)
          case Some(DatabaseError(error)) => throw error
          case Some(Late(first)) =>
            first()
            call(statement, method, arguments)
          case Some(Before) => break()
          case Some(After) =>
            call(statement, method, arguments)
            break()
        }
    }

    private def break(): Nothing = {
      broken = true
      throw new SQLException("by the test: the connection broke")
    }
  }

  private def call(target: AnyRef, method: Method, arguments: Seq[AnyRef]): AnyRef =
    try method.invoke(target, arguments: _*)
    catch { case e: InvocationTargetException => throw e.getCause }

  private def make[A](handle: (Method, Seq[AnyRef]) => AnyRef)(implicit tag: scala.reflect.ClassTag[A]): A = {
    val handler = new InvocationHandler {
      override def invoke(proxy: AnyRef, method: Method, arguments: Array[AnyRef]): AnyRef =
        handle(method, Option(arguments).toSeq.flatten)
    }
    Proxy.newProxyInstance(getClass.getClassLoader, Array(tag.runtimeClass), handler).asInstanceOf[A]
  }
}
