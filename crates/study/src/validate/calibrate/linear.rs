//! Symmetric systems of a few unknowns.

/// A square matrix, row by row.
pub(super) type Matrix = Vec<Vec<f64>>;

/// The inverse, by Gauss and Jordan with the greatest pivot; none if there is none.
pub(super) fn inverse(matrix: &Matrix) -> Option<Matrix> {
    let size = matrix.len();
    let unit = |row: usize| (0..size).map(move |column| f64::from(u8::from(row == column)));
    let mut rows: Matrix =
        matrix.iter().enumerate().map(|(row, cells)| cells.iter().copied().chain(unit(row)).collect()).collect();
    for column in 0..size {
        let pivot = (column..size).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let head = rows[column][column];
        if !head.is_normal() {
            return None;
        }
        rows[column].iter_mut().for_each(|cell| *cell /= head);
        let cleared = rows[column].clone();
        for (row, cells) in rows.iter_mut().enumerate() {
            let factor = cells[column];
            if row != column {
                cells.iter_mut().zip(&cleared).for_each(|(cell, other)| *cell -= factor * other);
            }
        }
    }
    Some(rows.into_iter().map(|row| row[size..].to_vec()).collect())
}

pub(super) fn product(matrix: &Matrix, vector: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum()).collect()
}

/// The transpose times the matrix itself, and times a vector. `columns` holds the matrix column by column.
pub(super) fn normal(columns: &[Vec<f64>], vector: &[f64]) -> (Matrix, Vec<f64>) {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let matrix = columns.iter().map(|a| columns.iter().map(|b| dot(a, b)).collect()).collect();
    (matrix, columns.iter().map(|column| dot(column, vector)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_undoes_its_matrix() {
        let matrix = vec![vec![0.0, 2.0, 1.0], vec![2.0, 5.0, 3.0], vec![1.0, 3.0, 7.0]];
        let inverse = inverse(&matrix).unwrap();
        // The matrix is symmetric, and so is its inverse: its rows are its columns.
        for (column, vector) in inverse.iter().enumerate() {
            for (row, value) in product(&matrix, vector).into_iter().enumerate() {
                assert!((value - f64::from(u8::from(row == column))).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_singular_matrix_has_no_inverse() {
        assert_eq!(inverse(&vec![vec![0.0, 0.0], vec![0.0, 1.0]]), None);
    }
}
